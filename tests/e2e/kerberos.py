"""A Kerberos realm on loopback, with a KDC of its own, and what verifies its
tickets: the helper of squid, which asks GSS-API with a keytab.

All files are in one folder.  Nothing of the system's configuration is read or
changed.  Exits with 77 where a program is missing; contrib/install-deps knows
the packages.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

import pace
import ports

REALM = "SPLICE.TEST"
VERIFIER = "/usr/lib/squid/negotiate_kerberos_auth"
NAMES = ("127.0.0.1", "localhost", "mcp.test")

KRB5 = """
[libdefaults]
 default_realm = %(realm)s
 dns_lookup_kdc = false
 dns_lookup_realm = false
 dns_uri_lookup = false
 dns_canonicalize_hostname = false
 rdns = false
 udp_preference_limit = 1
 clockskew = 1
[realms]
 %(realm)s = {
  kdc = 127.0.0.1:%(port)d
 }
[domain_realm]
%(names)s
"""

KDC = """
[kdcdefaults]
 kdc_listen = ""
 kdc_tcp_listen = 127.0.0.1:%(port)d
[realms]
 %(realm)s = {
  database_name = %(folder)s/principal
  key_stash_file = %(folder)s/stash
  acl_file = %(folder)s/acl
  max_life = 1h
 }
[logging]
 default = FILE:%(folder)s/kdc.log
 kdc = FILE:%(folder)s/kdc.log
 admin_server = FILE:%(folder)s/kdc.log
"""


def program(name):
    """Its path: the KDC's programs are not on a user's PATH."""
    path = shutil.which(name, path=os.environ.get("PATH", "") +
                        ":/usr/sbin:/usr/local/sbin")
    if path is None:
        sys.stderr.write("%s is not there: skipped\n" % name)
        sys.exit(77)
    return path


def demand():
    """Ends the test program with 77 where something is missing."""
    for name in ("kdb5_util", "kadmin.local", "krb5kdc", "kinit", "squid"):
        program(name)
    if not os.access(VERIFIER, os.X_OK):
        sys.stderr.write("%s is not there: skipped\n" % VERIFIER)
        sys.exit(77)


class Realm:
    """A KDC that runs until close(); a user, and the services HTTP/NAME."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="mcpsplice-kdc-")
        self.port = ports.free_port()
        fill = {"realm": REALM, "port": self.port, "folder": self.folder,
                "names": "\n".join(" %s = %s" % (n, REALM) for n in NAMES)}
        self.write("krb5.conf", KRB5 % fill)
        self.write("kdc.conf", KDC % fill)
        self.env = dict(os.environ,
                        KRB5_CONFIG=self.file("krb5.conf"),
                        KRB5_KDC_PROFILE=self.file("kdc.conf"),
                        KRB5RCACHETYPE="none",
                        TMPDIR=self.folder, LANG="C.UTF-8")
        self.run(program("kdb5_util"), "create", "-s", "-P", "master",
                 "-r", REALM)
        self.admin("addprinc -pw secret user")
        for name in NAMES[:1] + NAMES[2:]:      # nobody is localhost
            self.admin("addprinc -randkey HTTP/%s" % name)
            self.admin("ktadd -k %s HTTP/%s" % (self.keytab(name), name))
        # the KDC knows a key that the service does not have
        self.admin("addprinc -randkey HTTP/other")
        self.admin("ktadd -k %s HTTP/other" % self.keytab("other"))
        # ends with the pipe, however this process ends
        self.kdc = subprocess.Popen(
            ["sh", "-c", '"$@" & cat; kill $!', "kdc", program("krb5kdc"),
             "-n", "-P", self.file("kdc.pid")],
            env=self.env, stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        limit = pace.Limit(20)
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                if limit.left() <= 0:
                    raise
                time.sleep(0.02)

    def close(self):
        self.kdc.stdin.close()
        self.kdc.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def file(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.file(name), "w") as f:
            f.write(text)

    def keytab(self, name):
        return self.file(name + ".keytab")

    def run(self, *words, stdin="", env=None):
        done = subprocess.run(words, input=stdin.encode(), env=env or self.env,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise RuntimeError("%r: %s" % (words, done.stdout.decode()))

    def admin(self, query):
        self.run(program("kadmin.local"), "-r", REALM, "-q", query)

    def cache(self, path):
        """The environment of a user whose tickets are kept there."""
        return {"KRB5_CONFIG": self.env["KRB5_CONFIG"],
                "KRB5CCNAME": "FILE:" + path}

    def kinit(self, path, life="1h"):
        """Signs the user in; the environment for it."""
        self.run(program("kinit"), "-l", life, "user", stdin="secret\n",
                 env=dict(self.env, KRB5CCNAME="FILE:" + path))
        return self.cache(path)


class Verifier:
    """Checks tokens of Negotiate for one service."""

    def __init__(self, realm, name, keytab=None):
        self.lock = threading.Lock()
        self.tokens = []        # each token that came, for leak searches
        self.proc = subprocess.Popen(
            [VERIFIER, "-k", realm.keytab(keytab or name),
             "-s", "HTTP/%s@%s" % (name, REALM)],
            env=realm.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, bufsize=0)

    def check(self, header):
        """A header of the client: (user, the answer's token), or None."""
        scheme, _, token = (header or "").partition(" ")
        if scheme.lower() != "negotiate" or not token:
            return None
        with self.lock:
            self.tokens.append(token)
            self.proc.stdin.write(b"YR %s\n" % token.encode())
            line = self.proc.stdout.readline().decode()
        if not line.startswith("OK "):
            return None
        fields = dict(f.split("=", 1) for f in line.split()[1:] if "=" in f)
        return fields["user"], fields["token"]

    def close(self):
        self.proc.stdin.close()
        self.proc.wait()
        self.proc.stdout.close()
