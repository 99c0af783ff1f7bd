# Not tried: only its syntax was checked. A release fills in the SHA-256 of its
# source tarball; who publishes it fills in its address and the project's page.
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
    # Nothing listens there: the host is told so, and the process ends well.
    (testpath/"in").write <<~EOS
      {"jsonrpc":"2.0","id":1,"method":"ping"}
    EOS
    output = shell_output("#{bin}/mcpsplice --handshake " \
                          "http://127.0.0.1:#{free_port}/mcp <#{testpath}/in 2>&1")
    assert_match '"id":1', output
  end
end
