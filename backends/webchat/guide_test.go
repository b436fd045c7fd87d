package webchat_test

import (
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The guide's code in other languages signs valid tokens.
func TestGuide_SigningInOtherLanguages(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/guides/webchat.md")
	require.NoError(t, err)
	for language, row := range map[string]struct{ program, option, function, call string }{
		"js":     {"node", "-e", "function signUser", `console.log(signUser("` + secret + `", {id: "customer-7", firstName: "Zoë", email: "zoe@shop.example"}))`},
		"php":    {"php", "-r", "function sign_user", `echo sign_user("` + secret + `", ["id" => "customer-7", "firstName" => "Zoë", "email" => "zoe@shop.example"]);`},
		"python": {"python3", "-c", "def sign_user", `print(sign_user("` + secret + `", {"id": "customer-7", "firstName": "Zoë", "email": "zoe@shop.example"}))`},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			code := regexp.MustCompile("(?s)```" + language + "\n([^`]*" + row.function + ".*?)```").FindSubmatch(guide)
			require.NotNil(t, code)
			if _, err := exec.LookPath(row.program); err != nil {
				t.Skip(row.program + " is not installed here")
			}
			token, err := exec.CommandContext(t.Context(), row.program, row.option, string(code[1])+row.call).Output()
			require.NoError(t, err)
			w := newWorld(t)
			w.clock.at.Store(time.Now().UnixMilli()) //nolint:forbidigo // The other programs use the machine's clock.
			got := w.do(request{path: "session", body: fields{"channel": channelID, "user": strings.TrimSpace(string(token))}})
			require.Equal(t, http.StatusOK, got.Code, got.Body)
			require.Equal(t, "u:customer-7", answered[started](t, got).Visitor)
		})
	}
}
