package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/rounds"
)

// shop is the only Go file of a small checkout.
const shop = `package shop

type Cart struct{ items list }

type list []string

const Free, paid = 1, 2

var Sold int

type counter interface{ Count() int }

func (c *Cart) Add(item string) { c.items.add(item) }

func (c *Cart) Count() int { return total(c.items, true) }

func (l list) Len() int { return len(l) }

func New() *Cart { return &Cart{} }

func Sell(c *Cart) error {
	each := func() { Sold++ }
	each()
	return nil
}

func again(c *Cart) error { return Sell(c) }

func other(c *Cart) error { return Sell(New()) }
`

// aCheckout writes and reads a small checkout.
func aCheckout(t *testing.T) *checkout {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module x\n", "shop/shop.go": shop, "shop/shop_test.go": "package shop\n", "shop/internal/own/own.go": "package own\n\nfunc Do() {}\n",
		"shop/more/go.mod": "module y\n", "examples/main.go": "package main\n\nfunc Run() {}\n", ".git/hidden.go": "no Go",
	} {
		file := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o750))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	c, err := readCheckout(root)
	require.NoError(t, err)
	return c
}

func TestCheckout_Counts(t *testing.T) {
	t.Parallel()
	c := aCheckout(t)
	require.Equal(t, 2, c.folders)
	require.Equal(t, 2, c.modules)
	files, lines := sizeOf(c.files, func(f file) bool { return !f.isTest() })
	require.Equal(t, 3, files)
	require.Equal(t, strings.Count(shop, "\n")+2*3, lines)
	files, lines = sizeOf(c.files, file.isTest)
	require.Equal(t, 1, files)
	require.Equal(t, 1, lines)
	packages, names, methods := c.exported()
	require.Equal(t, 1, packages)
	require.Equal(t, len([]string{"Cart", "Free", "Sold", "New", "Sell"}), names)
	require.Equal(t, len([]string{"Cart.Add", "Cart.Count"}), methods)
}

func TestCheckout_Passing(t *testing.T) {
	t.Parallel()
	passing, all := aCheckout(t).passing()
	require.Equal(t, []string{"shop/shop.go: Cart.Add", "shop/shop.go: again"}, passing)
	require.Equal(t, len(passing)+len([]string{"Cart.Count", "list.Len"}), all)
}

func TestFunctionsIn_Profile(t *testing.T) {
	t.Parallel()
	c := aCheckout(t)
	profile := filepath.Join(t.TempDir(), "profile.txt")
	text := "mode: atomic\n" + modulePath + "shop/shop.go:22.18,22.26 1 3\n" + // in the function literal of Sell
		modulePath + "shop/shop.go:23.2,24.12 2 3\n" + modulePath + "shop/shop.go:19.19,19.36 1 0\n"
	require.NoError(t, os.WriteFile(profile, []byte(text), 0o600))
	found, err := c.functionsIn(profile)
	require.NoError(t, err)
	require.Equal(t, []string{"shop/shop.go: Sell"}, found)
	require.Equal(t, 1, filesOf(found))
}

func TestEnter_ThisCheckout(t *testing.T) {
	t.Parallel()
	rounds.OnlyThorough(t) // Compiling the SDK for coverage takes long.
	c, err := readCheckout("../../..")
	require.NoError(t, err)
	require.NoError(t, c.enter(t.Context()))
	require.Contains(t, c.entered[callSend], "botctx/operations_gen.go: Context.SendResponse")
	require.Contains(t, c.entered[callRead], "botctx/operations_gen.go: Context.GetMember")
	require.Contains(t, c.entered[callWebhook], "backends/webhook/send.go: Connector.Send")
	require.NotEmpty(t, c.entered[callWay])
}
