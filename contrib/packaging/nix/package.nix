# Not tried with nixpkgs: it was parsed, and evaluated with dummy arguments.
# "src" is the unpacked source or a fetched tarball of "make dist":
#
#   nix-build -E '(import <nixpkgs> { }).callPackage ./package.nix {
#     src = /path/to/mcpsplice-VERSION; }'
{
  lib,
  stdenv,
  autoreconfHook,
  pkg-config,
  check,
  curl,
  json_c,
  libevent,
  openssl,
  src,
  version ? "@VERSION@",
}:

stdenv.mkDerivation {
  pname = "mcpsplice";
  inherit src version;

  nativeBuildInputs = [
    autoreconfHook
    pkg-config
  ];
  buildInputs = [
    curl
    json_c
    libevent
    openssl
  ];
  nativeCheckInputs = [ check ];

  # Without a level, configure chooses the highest one that works.
  hardeningDisable = [ "fortify" ];
  configureFlags = [ "--sysconfdir=/etc" ];
  enableParallelBuilding = true;

  doCheck = true;
  checkTarget = "check-unit";

  meta = {
    description = "Use a remote MCP server as if it were a local one";
    homepage = "@HOMEPAGE@";
    license = lib.licenses.mit;
    mainProgram = "mcpsplice";
    platforms = lib.platforms.unix;
  };
}
