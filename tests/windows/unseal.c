/* Opens a record of sign-ins for the tests: stdin is the file's text, stdout what
 * was sealed in it. */
#include <stdio.h>
#include <string.h>
#include <windows.h>

#include <dpapi.h>
#include <fcntl.h>
#include <io.h>

int
main(void)
{
	static char text[1 << 20];
	DATA_BLOB from, to;
	char *behind;
	size_t n;

	_setmode(0, _O_BINARY);
	_setmode(1, _O_BINARY);
	n = fread(text, 1, sizeof text - 1, stdin);
	behind = strchr(text, '\n');
	if (behind == NULL)
		return 1;
	from.pbData = (BYTE *)behind + 1;
	from.cbData = (DWORD)(text + n - (behind + 1));
	if (!CryptUnprotectData(&from, NULL, NULL, NULL, NULL, 0, &to))
		return 1;
	return fwrite(to.pbData, 1, to.cbData, stdout) == to.cbData ? 0 : 1;
}
