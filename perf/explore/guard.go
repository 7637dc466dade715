package explore

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// NewToken returns a secret for an address that nobody guesses: 128 random bits.
func NewToken() string {
	b := make([]byte, 16)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// hostsOf returns the names by which a browser on this computer reaches a listener.
func hostsOf(addr net.Addr) []string {
	_, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return nil
	}
	var hosts []string
	for _, name := range []string{"127.0.0.1", "localhost", "::1"} {
		hosts = append(hosts, net.JoinHostPort(name, port))
	}
	return hosts
}

// guard lets requests through that a page of this server makes, or a link to it: they
// name this computer as the host, which those of a site whose name was pointed here do
// not; they come from no other origin; and their path begins with the token.
func guard(hosts []string, token string, next http.Handler) http.Handler {
	prefix := "/" + token + "/"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !slices.Contains(hosts, r.Host):
			http.Error(w, "this server answers to "+strings.Join(hosts, ", ")+" only", http.StatusForbidden)
		case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost:
			w.Header().Set("Allow", "GET, HEAD, POST")
			http.Error(w, "method "+r.Method+" is not allowed", http.StatusMethodNotAllowed)
		case !sameOrigin(r):
			http.Error(w, "the request comes from another site", http.StatusForbidden)
		case len(r.URL.Path) < len(prefix) || subtle.ConstantTimeCompare([]byte(r.URL.Path[:len(prefix)]), []byte(prefix)) != 1:
			http.Error(w, "the address lacks its secret: use the one that presage printed", http.StatusForbidden)
		default:
			headers(w.Header())
			http.StripPrefix("/"+token, next).ServeHTTP(w, r)
		}
	})
}

// sameOrigin reports whether a request may come from a page of this server. Browsers
// send Origin with each request that changes something, and with those of scripts of
// other sites.
func sameOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return r.Method != http.MethodPost || r.Header.Get("Sec-Fetch-Site") == "same-origin"
	}
	u, err := url.Parse(origin)
	return err == nil && u.Scheme == "http" && u.Host == r.Host
}

// headers restrict what the page may do, and who may show it: notebooks do, in a
// frame.
func headers(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; "+
		"form-action 'self'; base-uri 'none'; frame-ancestors 'self' http://localhost:* http://127.0.0.1:* https://localhost:* https://127.0.0.1:* vscode-webview:")
	h.Set("Referrer-Policy", "same-origin") // the address is a secret; "no-referrer" would hide the origin of the button's form, too
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}
