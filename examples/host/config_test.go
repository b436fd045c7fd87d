package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
	for name, c := range map[string]struct {
		args        []string
		environment variables
		says        string
	}{
		"no channel":         {nil, nil, "name a file of channels with -channels, or try -demo"},
		"unknown flag":       {[]string{"-strore", "x"}, nil, "-strore"},
		"argument":           {[]string{"-demo", "x"}, demoSecret, `"x" is no flag`},
		"wrong variable":     {[]string{"-demo"}, variables{demoVariable: secretOfTests, "HOST_STOP_WITHIN": "soon"}, `HOST_STOP_WITHIN is "soon"`},
		"no such store":      {[]string{"-demo", "-store", "paper"}, demoSecret, `-store is "paper": make it bolt or mongodb`},
		"no database":        {[]string{"-demo", "-store", "mongodb"}, demoSecret, "set HOST_MONGO_URI to the address of the database"},
		"no file":            {[]string{"-demo", "-file", ""}, demoSecret, "-file is empty"},
		"no time":            {[]string{"-demo", "-stop-within", "0s"}, demoSecret, "-stop-within must be more than nothing"},
		"no room":            {[]string{"-demo", "-max-pending", "0"}, demoSecret, "-max-pending must be more than nothing"},
		"short token":        {[]string{"-demo"}, variables{adminVariable: "short-secret"}, "HOST_ADMIN_TOKEN has 12 bytes"},
		"wrong allow list":   {[]string{"-demo", "-allow", "a b"}, demoSecret, "-allow"},
		"missing secret":     {[]string{"-demo"}, nil, "set the environment variable HOST_DEMO_SECRET to the secret"},
		"short secret":       {[]string{"-demo"}, variables{demoVariable: "short-secret"}, "HOST_DEMO_SECRET: "},
		"no such file":       {[]string{"-channels", filepath.Join(folder, "none")}, nil, "no such file"},
		"no list":            {[]string{"-channels", file("a", one)}, nil, "is no list of channels as in channels.json"},
		"secret in the file": {[]string{"-channels", file("b", `[{"secret":"x"}]`)}, nil, `unknown field "secret"`},
		"nothing of channel": {[]string{"-channels", file("c", `[{}]`)}, nil, "app, id and secretVariable must not be empty"},
		"address": {
			[]string{"-channels", file("e", `[{"app":"a","id":"c","url":"chat","secretVariable":"S"}]`)},
			nil,
			"give the address that messages are posted to",
		},
		"twice": {[]string{"-channels", file("f", `[`+one+`,`+one+`]`)}, variables{"SECRET": secretOfTests}, `app "a" has channel "c" twice`},
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
	_, err := parse([]string{"-store", "paper", "-stop-within", "0s"}, variables{}.lookup, io.Discard)
	require.ErrorContains(t, err, "-store")
	require.ErrorContains(t, err, "-stop-within")
	require.ErrorContains(t, err, "there is no channel")
}

func TestConfig_PrintsNoSecrets(t *testing.T) {
	t.Parallel()
	c, err := parse([]string{"-demo"}, demoSecret.lookup, io.Discard)
	require.NoError(t, err)
	require.NotContains(t, fmt.Sprintf("%v %+v %#v", c, c, c), secretOfTests)
}

func TestConfig_ShownChannelsFile(t *testing.T) {
	t.Parallel()
	_, err := parse([]string{"-channels", "channels.json"}, variables{"HOST_SECRET_WEBSITE": secretOfTests}.lookup, io.Discard)
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
	code := run(t.Context(), []string{"-demo", "-file", w.service.config.file}, demoSecret.lookup, io.Discard, &problems)
	require.Equal(t, 1, code)
	require.Contains(t, problems.String(), "open already")
	w.stop()
}
