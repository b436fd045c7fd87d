package pcre

import (
	"strings"
	"sync"
	"unicode"
)

// What escapes stand for. Those of ASCII are what PCRE2 means unless (*UCP) begins the
// pattern.
var (
	asciiDigit      = set{'0', '9'}
	asciiWord       = set{'0', '9', 'A', 'Z', '_', '_', 'a', 'z'}
	asciiSpace      = set{'\t', '\r', ' ', ' '}
	horizontalSpace = set{
		'\t', '\t', ' ', ' ', 0xa0, 0xa0, 0x1680, 0x1680, 0x180e, 0x180e, 0x2000, 0x200a,
		0x202f, 0x202f, 0x205f, 0x205f, 0x3000, 0x3000,
	}
	verticalSpace = set{'\n', '\r', 0x85, 0x85, 0x2028, 0x2029}
)

// The same after (*UCP).
var (
	unicodeDigit = sync.OnceValue(func() set { return ofTables(unicode.Nd) })
	unicodeWord  = sync.OnceValue(func() set { return united(ofTables(unicode.L, unicode.N), set{'_', '_'}) })
	unicodeAlnum = sync.OnceValue(func() set { return ofTables(unicode.L, unicode.N) })
	unicodeSpace = sync.OnceValue(func() set { return united(ofTables(unicode.Z), horizontalSpace, verticalSpace) })
)

// namedClasses are the classes such as [:alpha:].
var namedClasses = map[string]set{
	"alpha":  {'A', 'Z', 'a', 'z'},
	"lower":  {'a', 'z'},
	"upper":  {'A', 'Z'},
	"alnum":  {'0', '9', 'A', 'Z', 'a', 'z'},
	"ascii":  {0, 0x7f},
	"blank":  {'\t', '\t', ' ', ' '},
	"cntrl":  {0, 0x1f, 0x7f, 0x7f},
	"digit":  {'0', '9'},
	"graph":  {'!', '~'},
	"print":  {' ', '~'},
	"punct":  {'!', '/', ':', '@', '[', '`', '{', '~'},
	"space":  {'\t', '\r', ' ', ' '},
	"word":   {'0', '9', 'A', 'Z', '_', '_', 'a', 'z'},
	"xdigit": {'0', '9', 'A', 'F', 'a', 'f'},
}

// unicodeClasses are those of namedClasses that (*UCP) changes.
var unicodeClasses = map[string]func() set{
	"alpha": func() set { return ofTables(unicode.L) },
	"lower": func() set { return ofTables(unicode.Ll) },
	"upper": func() set { return ofTables(unicode.Lu) },
	"cntrl": func() set { return ofTables(unicode.Cc) },
	"alnum": unicodeAlnum,
	"digit": unicodeDigit,
	"blank": func() set { return horizontalSpace },
	"space": unicodeSpace,
	"word":  unicodeWord,
	"punct": func() set { return united(ofTables(unicode.P), namedClasses["punct"]) },
	"graph": unicodeGraph,
	"print": func() set { return united(unicodeGraph(), ofTables(unicode.Zs)).without(set{0x180e, 0x180e}) },
}

// unicodeGraph is what leaves a mark on paper, and some of what formats text.
func unicodeGraph() set {
	hidden := united(ofTables(unicode.Z, unicode.Cc, unicode.Cs), unassigned(), set{0x61c, 0x61c, 0x180e, 0x180e, 0x2066, 0x2069})
	return hidden.negated()
}

// unassigned is the category Cn.
func unassigned() set {
	return ofTables(unicode.C, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z).negated()
}

// without returns the set less what is in another one.
func (s set) without(other set) set { return united(s.negated(), other).negated() }

// property returns the set with a name of \p, and whether there is one. Case, spaces,
// hyphens and underscores in the name do not count.
func property(name string) (set, bool) {
	plain := plainName(name)
	if special, ok := specialProperties[plain]; ok {
		return special(), true
	}
	table, ok := propertyTables()[plain]
	if !ok {
		return nil, false
	}
	return ofTables(table), true
}

// specialProperties are the names of PCRE2's own, and those that are no table.
var specialProperties = map[string]func() set{
	"any": func() set { return anyCharacter },
	"l&":  casedLetters, "lc": casedLetters,
	"cn":  unassigned,
	"c":   func() set { return united(ofTables(unicode.C), unassigned()) },
	"xan": unicodeAlnum,
	"xps": unicodeSpace, "xsp": unicodeSpace,
	"xwd": unicodeWord,
	"xuc": func() set {
		return set{'$', '$', '@', '@', '`', '`', 0xa0, 0xd7ff, 0xe000, unicode.MaxRune}
	},
}

func casedLetters() set { return ofTables(unicode.Lu, unicode.Ll, unicode.Lt) }

// propertyTables are the categories, scripts and properties of Unicode by their plain names.
var propertyTables = sync.OnceValue(func() map[string]*unicode.RangeTable {
	tables := map[string]*unicode.RangeTable{}
	for _, group := range []map[string]*unicode.RangeTable{unicode.Properties, unicode.Scripts, unicode.Categories} {
		for name, table := range group {
			tables[plainName(name)] = table
		}
	}
	return tables
})

func plainName(name string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "-", "", "_", "", "\t", "").Replace(name))
}
