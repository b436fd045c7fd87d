// Package locale implements JavaScript's language-dependent methods as in Node.js: localeCompare, toLocaleString and
// toLocaleUpperCase with their variants. Unsupported features throw an error that names them. Source replaces the
// methods; Functions returns the parts that run in Go.
package locale

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"

	"github.com/botctx/go-sdk/boterr"
)

// Source is a JavaScript expression for a function that replaces the methods. Its argument is an object with
// ask(name, value), which calls one of Functions and returns its result, or throws an Error.
//
//go:embed locale.js
var Source string

// Function is a Go function that Source calls. value is JSON. json.Marshal encodes the result.
type Function = func(value []byte) (result any, err error)

// Functions returns the functions by name. They are pure, safe for concurrent use, and take time proportional
// to the length of their texts.
func Functions() map[string]Function {
	return map[string]Function{"sortKey": taking(new(sorter).key), "upper": taking(upper), "lower": taking(lower)}
}

func taking[T, R any](function func(T) (R, error)) Function {
	return func(value []byte) (any, error) {
		var given T
		if err := json.Unmarshal(value, &given); err != nil {
			return nil, fmt.Errorf("the host cannot read the request: %w", err)
		}
		return function(given)
	}
}

type localText struct {
	Text     string       `json:"text"`
	Language language.Tag `json:"language"`
}

func upper(given localText) (string, error) {
	return cases.Upper(given.Language).String(given.Text), nil
}

func lower(given localText) (string, error) {
	return cases.Lower(given.Language, cases.HandleFinalSigma(true)).String(given.Text), nil
}

// unsupported returns the error for an unsupported feature of localeCompare.
func unsupported(format string, args ...any) error {
	return boterr.New(boterr.Unsupported, "", "localeCompare "+format, args...)
}

// characters are the ranges of characters that package collate orders as Node.js does, at all strengths. Other
// characters have moved in newer versions of Unicode.
//
//go:generate go run ./generate
//go:embed characters.txt
var characters string

// moved lists the places of most other characters. For its format see the comment of package generate.
//
//go:embed moved.txt
var moved string

// spans are sorted ranges of characters.
type spans [][2]rune

func (s spans) has(r rune) bool {
	i := sort.Search(len(s), func(i int) bool { return s[i][1] >= r })
	return i < len(s) && s[i][0] <= r
}

// place is the position of a character that collate orders differently.
type place struct {
	// after is the preceding character. level is the first level at which the two differ.
	after string
	level int
	// rest is appended to the weight of after at each level up to level, and to the usual weights below.
	rest [levels]string
}

// sorter creates sort keys.
type sorter struct {
	// collators maps each language to a *sync.Pool.
	collators sync.Map
}

// tables are the parsed data of the package.
type tables struct {
	known, split spans
	places       map[rune]place
}

// parsed returns the tables. Parsing takes milliseconds, and few scripts sort.
var parsed = sync.OnceValue(func() *tables {
	t := &tables{places: map[rune]place{}}
	for field := range strings.FieldsSeq(characters) {
		t.known = append(t.known, span(field))
	}
	for field := range strings.FieldsSeq(moved) {
		if characters, isSplit := strings.CutPrefix(field, "="); isSplit {
			t.split = append(t.split, span(characters))
		} else {
			t.placeAll(field)
		}
	}
	return t
})

// span reads a range of characters, or a single one.
func span(text string) [2]rune {
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		last = first
	}
	return [2]rune{character(first), character(last)}
}

func character(text string) rune {
	const base, size = 16, 32
	r, err := strconv.ParseInt(text, base, size)
	if err != nil {
		panic(fmt.Sprintf("the data of localeCompare has %q: %v", text, err))
	}
	return rune(r)
}

// placeAll places the characters of a chain like a<b<<c=d.
func (t *tables) placeAll(chain string) {
	const signs = "<="
	end := strings.IndexAny(chain, signs)
	next := place{after: t.spelled(span(chain[:end])[0]), level: levels}
	for count := 0; end < len(chain); {
		chain = chain[end:]
		item := strings.TrimLeft(chain, signs)
		level := len(chain) - len(item) - 1
		isEqual := chain[0] == '='
		chain = item
		if end = strings.IndexAny(chain, signs); end < 0 {
			end = len(chain)
		}
		ends := span(chain[:end])
		for r := ends[0]; r <= ends[1]; r++ {
			if !isEqual {
				count++
				next.level = min(next.level, level)
				next.rest[level] = string([]byte{byte(count >> 8), byte(count)})
				clear(next.rest[level+1:])
			}
			t.places[r] = next
		}
	}
}

// spelled returns a character as collate needs it: a CGJ goes before an accent that collate does not treat as an
// accent.
func (t *tables) spelled(r rune) string {
	if !t.split.has(r) {
		return string(r)
	}
	parts := []rune(norm.NFD.String(string(r)))
	return string(parts[0]) + "\u034F" + string(parts[1:])
}

// sorted is a text to create a key for. Levels is the number of levels to compare: letters, accents, case.
type sorted struct {
	Text     string       `json:"text"`
	Language language.Tag `json:"language"`
	Numeric  bool         `json:"numeric"`
	Levels   int          `json:"levels"`
}

const (
	levels     = 3
	mostSorted = 100_000 // bytes
	// between is the first byte of the text that is added to a weight to place a character before the next weight.
	between = "\xFF"
	// mostDigits is the maximum length of a digit sequence that counts as one number.
	mostDigits = 254
)

// usual are the weights of a small letter without an accent, at the levels after the first.
var usual = [levels]string{"", "\x00\x20", "\x02"}

// weights are the weights of a text at each level, as in collate's keys.
type weights [levels][]byte

// key returns the sort key of a text. Keys compare like their texts, both by UTF-16 units and by bytes.
func (s *sorter) key(given sorted) (string, error) {
	if len(given.Text) > mostSorted {
		return "", unsupported("takes texts of at most %d bytes, and got %d", mostSorted, len(given.Text))
	}
	pool, _ := s.collators.LoadOrStore(given.Language, &sync.Pool{New: func() any { return collate.New(given.Language) }})
	collator := pool.(*sync.Pool).Get().(*collate.Collator) //nolint:forcetypeassert // Nothing else is stored.
	defer pool.(*sync.Pool).Put(collator)                   //nolint:forcetypeassert // As above.
	made, err := s.weigh(collator, given)
	if err != nil {
		return "", err
	}
	var key strings.Builder
	for _, level := range made[:given.Levels] {
		for _, b := range level {
			key.WriteRune(0x100 + rune(b)) // JSON needs no escapes for these characters.
		}
		key.WriteByte(' ')
	}
	return key.String(), nil
}

// weigh returns the weights of a text. It replaces the weights of characters that collate orders differently from
// Node.js.
func (s *sorter) weigh(collator *collate.Collator, given sorted) (weights, error) {
	var made weights
	data := parsed()
	var plain strings.Builder
	flush := func() {
		made.add(collator, plain.String())
		plain.Reset()
	}
	runes := []rune(norm.NFC.String(given.Text))
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		number := numberIn(runes[i:])
		switch {
		case given.Numeric && number > 0:
			flush()
			digits := strings.TrimLeft(string(runes[i:i+number]), "0")
			made.addAfter(collator, place{after: "9", rest: [levels]string{string([]byte{byte(len(digits))}) + digits}})
			i += number - 1
		case given.Numeric && unicode.Is(unicode.Nd, r) && r > unicode.MaxASCII:
			return weights{}, unsupported("with numeric cannot order the digit %q", r)
		case data.known.has(r), given.Language == language.Ukrainian && unicode.ToLower(r) == 'ї': // In Ukrainian, ї is a separate letter.
			plain.WriteRune(r)
		case data.split.has(r):
			plain.WriteString(data.spelled(r))
		default:
			place, isPlaced := data.places[r]
			if !isPlaced {
				return weights{}, unsupported("cannot order the character %q (U+%04X)", r, r)
			}
			flush()
			made.addAfter(collator, place)
		}
	}
	flush()
	return made, nil
}

// numberIn returns the number of digits at the start of a text.
func numberIn(runes []rune) int {
	count := 0
	for count < min(len(runes), mostDigits) && runes[count] >= '0' && runes[count] <= '9' {
		count++
	}
	return count
}

func (w *weights) add(collator *collate.Collator, text string) {
	if text == "" {
		return
	}
	key := collator.KeyFromString(&collate.Buffer{}, text)
	for level := range w {
		end := 0
		for end < len(key) && (level == levels-1 || key[end] != 0 || key[end+1] != 0) {
			switch {
			case level == levels-1:
				end++
			case level == 0 && key[end] >= 0x80: //nolint:mnd // three-byte weights start with such a byte
				end += 3
			default:
				end += 2
			}
		}
		w[level] = append(w[level], key[:end]...)
		key = key[min(len(key), end+len("\x00\x00")):]
	}
}

// addAfter appends the weights of a moved character.
func (w *weights) addAfter(collator *collate.Collator, moved place) {
	var before weights
	before.add(collator, moved.after)
	for level := range w {
		weight := string(before[level])
		if level > moved.level {
			weight = usual[level]
		}
		if moved.rest[level] != "" {
			weight += between + moved.rest[level]
		}
		w[level] = append(w[level], weight...)
	}
}
