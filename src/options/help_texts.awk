# Makes the texts of "mcpsplice help OPTION" of the sections OPTIONS and COMMANDS of
# the manual:
# a row of C, { NAME, TEXT }, for each option. It knows the macros that stand
# there; a new one is an error.
# usage: awk -f help_texts.awk mcpsplice.1

function add(word)
{
	if (text != "" && !close_up && word !~ /^[].,;:)?!]+$/)
		text = text " "
	text = text word
	close_up = 0
}

function plain(line)
{
	gsub(/\\\(lq|\\\(rq/, "\"", line)
	gsub(/\\\(aq/, "'", line)
	gsub(/\\&/, "", line)
	gsub(/\\-/, "-", line)
	gsub(/\\e/, "\\", line)
	return line
}

# Adds a line of macros. Quotes and brackets that a macro opens close at the end
# of the line, in front of its punctuation.
function macros(line,    word, n, i, dash, ends)
{
	n = split(plain(substr(line, 2)), word, " ")
	ends = dash = ""
	for (i = 1; i <= n; i++) {
		if (word[i] == "Fl") {
			dash = dash "-"
			continue
		}
		if (dash != "" && word[i] ~ /^([A-Z][a-z]|[.,;:])$/) {
			add(dash)
			dash = ""
		}
		if (word[i] ~ /^(No|Ar|Cm|Em|Li|Pa|Sx|Sy|Va)$/)
			continue
		if (word[i] == "Ns") {
			close_up = 1
		} else if (word[i] == "Nm") {
			add("mcpsplice")
		} else if (word[i] == "Xr") {
			add(word[i + 1] "(" word[i + 2] ")")
			i += 2
		} else if (word[i] ~ /^(Dq|Pq|Op|Oo)$/) {
			add(opens[word[i]])
			close_up = 1
			ends = closes[word[i]] ends
		} else if (word[i] == "Oc") {
			add("]")
		} else if (word[i] == "Pp") {
			continue
		} else if (i == 1 && word[i] ~ /^[A-Z][a-z]$/) {
			print FILENAME ":" FNR ": " word[i] >"/dev/stderr"
			exit failed = 1
		} else {
			if (i == n && word[i] ~ /^[.,;:]+$/ && ends != "") {
				text = text ends
				ends = ""
			}
			add(dash word[i])
			dash = ""
		}
	}
	if (dash != "")
		add(dash)
	text = text ends
}

# Prints the rows of the options whose text is complete. Several may share one.
function flush(    word, n, i, line, out)
{
	if (text == "")
		return
	n = split(text, word, " ")
	line = out = ""
	for (i = 1; i <= n; i++) {
		if (line != "" && length(line) + length(word[i]) > 74) {
			out = out "\t    \"    " line "\\n\"\n"
			line = ""
		}
		gsub(/\\/, "\\\\", word[i])
		gsub(/"/, "\\\"", word[i])
		line = line (line == "" ? "" : " ") word[i]
	}
	for (i = 1; i <= names; i++)
		printf "\t{ \"%s\",\n%s\t    \"    %s\\n\" },\n", name[i], out, line
	names = 0
	text = ""
}

BEGIN {
	opens["Dq"] = closes["Dq"] = "\""
	opens["Pq"] = "("
	closes["Pq"] = ")"
	opens["Op"] = opens["Oo"] = "["
	closes["Op"] = "]"
}
/^\.Sh / {
	inside = $2 == "OPTIONS" || $2 == "COMMANDS"
}
!inside {
	next
}
/^\.(It|El|Ss)/ {
	flush()
	line = $2 == "Fl" ? $0 : ""
	while (match(line, /Fl Fl [a-zA-Z0-9-]+/)) {
		name[++names] = substr(line, RSTART + 6, RLENGTH - 6)
		line = substr(line, RSTART + RLENGTH)
	}
	next
}
names == 0 {
	next
}
/^\./ {
	macros($0)
	next
}
{
	add(plain($0))
}
END {
	if (failed)
		exit 1
}
