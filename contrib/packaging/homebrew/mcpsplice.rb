# Not tried: only its syntax was checked. A release fills in the SHA-256 of its
# source tarball; whoever publishes it fills in its address.
class Mcpsplice < Formula
  desc "Use a remote MCP server as if it were a local one"
  homepage "@HOMEPAGE@"
  url "@URL@"
  sha256 "@SHA256@"
  license "MIT"

  depends_on "pkgconf" => :build
  depends_on "curl"
  depends_on "json-c"
  depends_on "libevent"
  depends_on "openssl@3"

  def install
    system "./configure", "--disable-tests", "--sysconfdir=#{etc}",
           *std_configure_args
    system "make", "install"
  end

  test do
    assert_match "mcpsplice #{version}", shell_output("#{bin}/mcpsplice --version")
    # Nothing listens there: the host gets an error, and the exit status is 0.
    (testpath/"in").write <<~EOS
      {"jsonrpc":"2.0","id":1,"method":"ping"}
    EOS
    output = shell_output("#{bin}/mcpsplice --handshake " \
                          "http://127.0.0.1:#{free_port}/mcp <#{testpath}/in 2>&1")
    assert_match '"id":1', output
  end
end
