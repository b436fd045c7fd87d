package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var demoSecret = variables{demoVariable: secretOfTests}

func TestConfig_FlagsBeforeEnvironment(t *testing.T) {
	t.Parallel()
	environment := variables{demoVariable: secretOfTests, "HOST_FILE": "of-environment.db", "HOST_REMIND_AFTER": "1h", "HOST_DEMO": "true"}
	c, err := parse([]string{"-file", "of-flag.db"}, environment.lookup, io.Discard)
	require.NoError(t, err)
	require.Equal(t, "of-flag.db", c.file)
	require.Equal(t, time.Hour, c.remindAfter)
	require.Equal(t, "127.0.0.1:8080", c.listen, "the default")
}

func TestConfig_ExplainsWhatIsWrong(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := func(name, text string) string {
		name = filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		return name
	}
	one := `{"app":"a","id":"c","url":"https://chat.example","secretVariable":"SECRET"}`
	page := `{"app":"a","id":"p","type":"alpha","account":"1900","tokenVariable":"TOKEN"}`
	desk := `{"app":"a","id":"d","type":"foxtrot","account":"1","infoVariable":"INFO"}`
	for name, c := range map[string]struct {
		args        []string
		environment variables
		says        string
	}{
		"no channel":         {[]string{"-log-level", "warn"}, nil, "name a file of channels with -channels, set HOST_TELEGRAM_TOKEN, or try -demo"},
		"unknown flag":       {[]string{"-strore", "x"}, nil, "-strore"},
		"argument":           {[]string{"-demo", "x"}, demoSecret, `"x" is not a flag`},
		"wrong variable":     {[]string{"-demo"}, variables{demoVariable: secretOfTests, "HOST_STOP_WITHIN": "soon"}, `HOST_STOP_WITHIN is "soon"`},
		"two databases":      {[]string{"-demo", "-postgres", "postgres://db", "-mongodb", "mongodb://db"}, demoSecret, "-postgres and -mongodb are both set"},
		"show of a database": {[]string{"-show", "members"}, variables{"HOST_POSTGRES": "postgres://db"}, "-show needs -file"},
		"no file":            {[]string{"-demo", "-file", ""}, demoSecret, "-file is empty"},
		"no time":            {[]string{"-demo", "-stop-within", "0s"}, demoSecret, "-stop-within must be positive"},
		"no room":            {[]string{"-demo", "-max-pending", "0"}, demoSecret, "-max-pending must be positive"},
		"short token":        {[]string{"-demo"}, variables{adminVariable: "short-secret"}, "HOST_ADMIN_TOKEN has 12 bytes"},
		"wrong allow list":   {[]string{"-demo", "-allow", "a b"}, demoSecret, "-allow"},
		"missing secret":     {[]string{"-demo"}, nil, "set the environment variable HOST_DEMO_SECRET to the secret"},
		"short secret":       {[]string{"-demo"}, variables{demoVariable: "short-secret"}, "HOST_DEMO_SECRET: "},
		"no such file":       {[]string{"-channels", filepath.Join(folder, "none")}, nil, "no such file"},
		"no list":            {[]string{"-channels", file("a", one)}, nil, "is not a list of channels as in channels.json"},
		"secret in the file": {[]string{"-channels", file("b", `[{"secret":"x"}]`)}, nil, `unknown field "secret"`},
		"nothing of channel": {[]string{"-channels", file("c", `[{}]`)}, nil, "a channel of type custom needs app, id, url, secretVariable"},
		"address": {
			[]string{"-channels", file("e", `[{"app":"a","id":"c","url":"chat","secretVariable":"S"}]`)},
			nil,
			"give the address that messages are posted to",
		},
		"no application":     {[]string{"-channels", file("g", `[`+page+`]`)}, variables{"TOKEN": "t"}, "set HOST_ALPHA_APP_SECRET to the application's secret"},
		"no token":           {[]string{"-channels", file("h", `[`+page+`]`)}, nil, "set the environment variable TOKEN to the token of the account"},
		"nothing of page":    {[]string{"-channels", file("i", `[{"type":"alpha"}]`)}, nil, "a channel of type alpha needs app, id, account, tokenVariable"},
		"unknown type":       {[]string{"-channels", file("j", `[{"type":"pigeon"}]`)}, nil, `type is "pigeon": make it custom, webchat, desk, alpha, bravo, echo, foxtrot or hotel`},
		"page with url":      {[]string{"-channels", file("k", `[{"app":"a","id":"p","type":"alpha","account":"1","tokenVariable":"T","url":"x"}]`)}, nil, "a channel of type alpha does not use url: remove it"},
		"webchat with token": {[]string{"-channels", file("l", `[{"app":"a","id":"p","url":"x","secretVariable":"S","account":"1"}]`)}, nil, "does not use account: remove it, or set another type"},
		"nothing of desk":    {[]string{"-channels", file("d1", `[{"type":"foxtrot"}]`)}, nil, "a channel of type foxtrot needs app, id, account, infoVariable"},
		"no info":            {[]string{"-channels", file("d2", `[`+desk+`]`)}, variables{"INFO": "{}"}, "set the environment variable INFO to the info of the channel"},
		"odd info":           {[]string{"-channels", file("d3", `[`+strings.Replace(desk, "foxtrot", "echo", 1)+`]`)}, variables{"INFO": `{"appId":7}`}, "INFO: "},
		"desk with token":    {[]string{"-channels", file("d4", `[{"app":"a","id":"d","type":"foxtrot","account":"1","infoVariable":"I","tokenVariable":"T"}]`)}, nil, "a channel of type foxtrot does not use tokenVariable"},
		"bot without tenant": {[]string{"-channels", file("n", `[{"app":"a","id":"b","type":"hotel","account":"1","tokenVariable":"T"}]`)}, nil, "a channel of type hotel needs tenant"},
		"page with a tenant": {[]string{"-channels", file("o", `[{"app":"a","id":"p","type":"alpha","account":"1","tenant":"t","tokenVariable":"T"}]`)}, nil, "a channel of type alpha does not use tenant"},
		"origins of no chat": {[]string{"-channels", file("q", `[{"app":"a","id":"d","type":"desk","origins":["self"]}]`)}, nil, "a channel of type desk does not use origins"},
		"account twice": {
			[]string{"-channels", file("m", `[`+page+`,`+strings.Replace(page, `"p"`, `"q"`, 1)+`]`)}, variables{"TOKEN": "t"}, "the account 1900 has a channel already",
		},
		"desk without agents": {[]string{"-channels", file("w1", `[{"app":"a","id":"d","type":"desk"}]`)}, nil, "there is a desk: set HOST_AGENTS to its agents"},
		"agent with a short token": {
			[]string{"-channels", file("w2", `[{"app":"a","id":"d","type":"desk"}]`)}, variables{agentsVariable: "grace:short-secret"}, "each token of at least 16 bytes",
		},
		"chat without origins": {
			[]string{"-channels", file("w3", `[{"app":"a","id":"w","type":"webchat","secretVariable":"SECRET"}]`)},
			variables{"SECRET": secretOfTests},
			"a channel of type webchat needs origins",
		},
		"chat with a short secret": {
			[]string{"-channels", file("w4", `[{"app":"a","id":"w","type":"webchat","secretVariable":"SECRET","origins":["self"]}]`)},
			variables{"SECRET": "short-secret"},
			"SECRET: must have at least 32 bytes",
		},
		"files without address": {[]string{"-demo", "-files", "file:///files"}, demoSecret, "set -url to the public address of the service"},
		"files of no bucket":    {[]string{"-demo", "-files", "files", "-url", "https://bot.example"}, demoSecret, "-files is not the address of a bucket"},
		"no public address":     {[]string{"-demo", "-url", "bot.example"}, demoSecret, "-url is not the public address of the service"},
		"two lists":             {[]string{"-channels", file("p", `[`+one+`] []`)}, variables{"SECRET": secretOfTests}, "there is text after the list"},
		"twice":                 {[]string{"-channels", file("f", `[`+one+`,`+one+`]`)}, variables{"SECRET": secretOfTests}, `app "a" has channel "c" twice`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var problems bytes.Buffer
			code := run(t.Context(), c.args, c.environment.lookup, io.Discard, &problems)
			require.Equal(t, 2, code)
			require.Contains(t, problems.String(), c.says)
			require.NotContains(t, problems.String(), "short-secret")
		})
	}
}

func TestConfig_TellsAllAtOnce(t *testing.T) {
	t.Parallel()
	_, err := parse([]string{"-file", "", "-stop-within", "0s"}, variables{}.lookup, io.Discard)
	require.ErrorContains(t, err, "-file")
	require.ErrorContains(t, err, "-stop-within")
	require.ErrorContains(t, err, "there is no channel")
}

func TestConfig_PrintsNoSecrets(t *testing.T) {
	t.Parallel()
	c, err := parse([]string{"-demo", "-postgres", "postgres://ada:" + secretOfTests + "@db"}, demoSecret.lookup, io.Discard)
	require.NoError(t, err)
	require.NotContains(t, fmt.Sprintf("%v %+v %#v", c, c, c), secretOfTests)
}

func TestConfig_ShownChannelsFile(t *testing.T) {
	t.Parallel()
	_, err := parse([]string{"-channels", "channels.json"}, variables{
		"HOST_SECRET_WEBSITE": secretOfTests, "HOST_TOKEN_PAGE": "token", "HOST_ALPHA_APP_SECRET": "secret", "HOST_ALPHA_VERIFY_TOKEN": "word",
		"HOST_TOKEN_PHONE": "token", "HOST_TOKEN_TEAM": "secret", "HOST_BRAVO_APP_SECRET": "secret", "HOST_BRAVO_VERIFY_TOKEN": "word",
		"HOST_SECRET_SHOP": secretOfTests, agentsVariable: "grace:" + tokenOfTests, "HOST_INFO_ACCOUNT": `{"appId":"wx1"}`, "HOST_INFO_DESK": `{"appId":"1"}`,
	}.lookup, io.Discard)
	require.NoError(t, err)
}

func TestHelp_NamesTheFlags(t *testing.T) {
	t.Parallel()
	var help bytes.Buffer
	require.Zero(t, run(t.Context(), []string{"-help"}, variables{}.lookup, &help, io.Discard))
	require.Contains(t, help.String(), "-remind-after")
	require.Contains(t, help.String(), "HOST_REMIND_AFTER")
}

func TestOpen_FileIsOpenAlready(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var problems bytes.Buffer
	code := run(t.Context(), []string{"-demo", "-listen", anyPort, "-file", w.service.config.file}, demoSecret.lookup, io.Discard, &problems)
	require.Equal(t, 1, code)
	require.Contains(t, problems.String(), "already open")
	w.stop()
}

func TestShow_PrintsACollection(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Equal(t, held, w.say("m1", "a table for 4 at 19:30"))
	w.stop()
	var out, problems bytes.Buffer
	args := []string{"-file", w.service.config.file, "-show", "members"}
	require.Zero(t, run(t.Context(), args, variables{}.lookup, &out, &problems), problems.String())
	require.Contains(t, out.String(), `"firstName":"Ada"`)
	args[3] = "guests"
	require.Equal(t, 1, run(t.Context(), args, variables{}.lookup, &out, &problems))
	require.Contains(t, problems.String(), "there is no collection")
	args[1] = filepath.Join(t.TempDir(), "none.db")
	require.Equal(t, 1, run(t.Context(), args, variables{}.lookup, &out, &problems))
	require.Contains(t, problems.String(), "no such file")
	require.NoFileExists(t, args[1])
}
