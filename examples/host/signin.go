package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"

	"github.com/botctx/go-sdk/channel"
)

// agentsVariable holds the agents who may answer on the desk's page.
const agentsVariable = "HOST_AGENTS"

// operator is the person who may see the operators' page.
const operator = "operator"

// readAgents returns the tokens of the agents by their names, from a text such as "grace:TOKEN hedy:TOKEN".
func readAgents(text string) (map[string]channel.Secret, error) {
	agents := map[string]channel.Secret{}
	for one := range strings.FieldsSeq(text) {
		name, token, _ := strings.Cut(one, ":")
		if name == "" || name == operator || len(token) < minTokenBytes {
			return nil, fmt.Errorf("%s: give names with their tokens, such as grace:TOKEN hedy:TOKEN, each token of at least %d bytes",
				agentsVariable, minTokenBytes)
		}
		agents[name] = channel.NewSecret(token)
	}
	return agents, nil
}

// signIns identifies the senders of requests: by a token as the password, or by a cookie. A link that works
// once gives the cookie.
type signIns struct {
	// tokens are the tokens of the agents and of the operator, by name.
	tokens map[string]channel.Secret

	mu sync.Mutex
	// links maps the tokens of links to people. sessions maps the values of cookies to people.
	links, sessions map[string]string
}

const (
	signInPath    = "/sign-in/"
	sessionCookie = "host-session"
)

func newSignIns(agents map[string]channel.Secret, admin channel.Secret) *signIns {
	s := &signIns{tokens: map[string]channel.Secret{}, links: map[string]string{}, sessions: map[string]string{}}
	maps.Copy(s.tokens, agents)
	if admin.Reveal() != "" {
		s.tokens[operator] = admin
	}
	return s
}

// link returns the path of a link by which a person signs in once.
func (s *signIns) link(person string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	token := rand.Text()
	s.links[token] = person
	return signInPath + token
}

// signIn accepts a link once: it sets a cookie and redirects to the person's page.
func (s *signIns) signIn(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	token := strings.TrimPrefix(r.URL.Path, signInPath)
	person, isKnown := s.links[token]
	if !isKnown {
		http.Error(w, "this link was used already; start the host again for a new one", http.StatusGone)
		return
	}
	delete(s.links, token)
	session := rand.Text()
	s.sessions[session] = person
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Links only work on this machine, without TLS.
		Name: sessionCookie + "-" + person, Value: session, Path: pathOf(person), HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	http.Redirect(w, r, pathOf(person), http.StatusSeeOther)
}

func pathOf(person string) string {
	if person == operator {
		return operatorsPath + "/"
	}
	return deskPath + "/"
}

var errNotSignedIn = errors.New("give a name and its token as user and password, or open the link that the host has printed")

// person returns the person who sends a request, by a cookie, by a name with its token, or by the operator's token alone.
func (s *signIns) person(r *http.Request) (string, error) {
	s.mu.Lock()
	for _, cookie := range r.Cookies() {
		if person := s.sessions[cookie.Value]; person != "" && cookie.Name == sessionCookie+"-"+person {
			s.mu.Unlock()
			return person, nil
		}
	}
	s.mu.Unlock()
	name, password, isBasic := r.BasicAuth()
	if !isBasic {
		password, isBasic = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	if _, isAgent := s.tokens[name]; !isAgent {
		name = operator
	}
	if token := s.tokens[name].Reveal(); isBasic && token != "" && isEqual(password, token) {
		return name, nil
	}
	return "", errNotSignedIn
}

// only passes on the requests of people who may see a page.
func (s *signIns) only(may func(person string) bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if person, err := s.person(r); err != nil || !may(person) {
			w.Header().Set("WWW-Authenticate", `Basic realm="host", charset="UTF-8"`)
			http.Error(w, errNotSignedIn.Error(), http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func isOperator(person string) bool { return person == operator }

func isAgent(person string) bool { return person != operator }
