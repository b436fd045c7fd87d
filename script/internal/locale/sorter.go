package locale

import (
	_ "embed"
	"fmt"
	"sort"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// characters has the ranges of the characters that the package collate orders as Node.js does, at all strengths. Others
// have moved in Unicode's order since its tables were made.
//
//go:embed characters.txt
var characters string

// span is a range of characters.
type span struct{ first, last rune }

// sorter makes sort keys.
type sorter struct {
	known []span
	// collators has a *sync.Pool for each language.
	collators sync.Map
}

func newSorter() *sorter {
	fields := strings.Fields(characters)
	s := &sorter{known: make([]span, len(fields))}
	for i, field := range fields {
		if _, err := fmt.Sscanf(field, "%x-%x", &s.known[i].first, &s.known[i].last); err != nil {
			panic(fmt.Sprintf("characters.txt has %q: %v", field, err))
		}
	}
	return s
}

// knownBelow returns the last known character that is not after r.
func (s *sorter) knownBelow(r rune) rune {
	after := sort.Search(len(s.known), func(i int) bool { return s.known[i].first > r })
	return min(r, s.known[max(0, after-1)].last)
}

// sorted is a text to make a key of. Levels is how many of these differences count: letters, accents, case.
type sorted struct {
	Text     string       `json:"text"`
	Language language.Tag `json:"language"`
	Numeric  bool         `json:"numeric"`
	Levels   int          `json:"levels"`
}

const (
	levels     = 3
	mostSorted = 100_000 // bytes
	// common is the weight of a letter without accent, and of one that is small.
	commonAccent, commonCase = "\x00\x20", "\x02"
	// between begins what is added to the weight of a letter to come before the next one.
	between = '\xFF'
	// mostDigits is how many digits of a number count as one.
	mostDigits = 254
)

// weights are the weights of a text at each level, as package collate has them in its keys.
type weights [levels][]byte

// key returns a text that is less than the keys of greater texts, by UTF-16 and by bytes.
func (s *sorter) key(given sorted) (string, error) {
	if len(given.Text) > mostSorted {
		return "", unsupported("takes texts of at most %d bytes, and got %d", mostSorted, len(given.Text))
	}
	pool, _ := s.collators.LoadOrStore(given.Language, &sync.Pool{New: func() any { return collate.New(given.Language) }})
	collator := pool.(*sync.Pool).Get().(*collate.Collator) //nolint:forcetypeassert // Nothing else is stored.
	defer pool.(*sync.Pool).Put(collator)                   //nolint:forcetypeassert // As above.
	made, err := s.weigh(collator, given.Text, given.Numeric)
	if err != nil {
		return "", err
	}
	var key strings.Builder
	for _, level := range made[:given.Levels] {
		for _, b := range level {
			key.WriteRune(0x100 + rune(b)) // JSON escapes none of these.
		}
		key.WriteByte(' ')
	}
	return key.String(), nil
}

// weigh returns the weights of a text. What collate orders in another way than Node.js gets weights of its own.
func (s *sorter) weigh(collator *collate.Collator, text string, isNumeric bool) (weights, error) {
	var made weights
	var plain strings.Builder
	flush := func() {
		made.add(collator, plain.String())
		plain.Reset()
	}
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		number := numberIn(runes[i:])
		switch {
		case isNumeric && number > 0:
			flush()
			digits := strings.TrimLeft(string(runes[i:i+number]), "0")
			made.addAfter(collator, '9', fmt.Sprintf("%c%s", len(digits), digits), commonAccent)
			i += number - 1
		case isNumeric && unicode.Is(unicode.Nd, r) && r > unicode.MaxASCII:
			return weights{}, unsupported("with numeric cannot order the digit %q", r)
		case strings.ContainsRune(quotes, r):
			flush()
			made.addQuote(collator, r)
		case split[r] != "":
			plain.WriteString(split[r])
		case s.knownBelow(r) == r:
			plain.WriteRune(r)
		case isEmoji(r):
			flush()
			made.addAfter(collator, s.knownBelow(min(r, blockOfSymbols(r))), fmt.Sprintf("%06x", r), commonAccent)
		default:
			return weights{}, unsupported("cannot order the character %q (U+%04X)", r, r)
		}
	}
	flush()
	return made, nil
}

// numberIn returns how many digits a text begins with.
func numberIn(runes []rune) int {
	count := 0
	for count < min(len(runes), mostDigits) && runes[count] >= '0' && runes[count] <= '9' {
		count++
	}
	return count
}

// quotes are variants of the straight quotes, in their order.
const quotes = "‘’‚‛“”„‟"

// split are letters that collate takes as such, and Node.js as ones with accents: CGJ keeps the accent apart.
var split = map[rune]string{
	'Ѓ': "Г\u034F\u0301", 'ѓ': "г\u034F\u0301", 'Ї': "І\u034F\u0308", 'ї': "і\u034F\u0308", 'Ќ': "К\u034F\u0301",
	'ќ': "к\u034F\u0301", 'Ў': "У\u034F\u0306", 'ў': "у\u034F\u0306",
}

// isEmoji reports whether a character that collate does not know belongs to the blocks of emoji.
func isEmoji(r rune) bool {
	isInBlock := r >= 0x1F300 && r <= 0x1F6FF || r >= 0x1F7E0 && r <= 0x1F7EB || r >= 0x1F90C && r <= 0x1F9FF || r >= 0x1FA70 && r <= 0x1FAFF
	return isInBlock && unicode.In(r, unicode.So, unicode.Sk)
}

// blockOfSymbols returns the last character that is not after r in the order: newer blocks follow an older one.
func blockOfSymbols(r rune) rune {
	if r >= 0x1F90C {
		return 0x1F5FF
	}
	return r
}

// add adds the weights of a text as collate has them.
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
			case level == 0 && key[end] >= 0x80: //nolint:mnd // Then it is a weight of three bytes.
				end += 3
			default:
				end += 2
			}
		}
		w[level] = append(w[level], key[:end]...)
		key = key[min(len(key), end+len("\x00\x00")):]
	}
}

// addAfter adds a character of its own after a known one. Characters after the same one are in the order of rest.
func (w *weights) addAfter(collator *collate.Collator, known rune, rest, accent string) {
	var before weights
	before.add(collator, string(known))
	w[0] = append(append(append(w[0], before[0]...), between), rest...)
	w[1] = append(w[1], accent...)
	w[2] = append(w[2], commonCase...)
}

// addQuote adds a variant of a straight quote.
func (w *weights) addQuote(collator *collate.Collator, quote rune) {
	straight, place := "'", strings.IndexRune(quotes, quote)/len("‘")
	if place >= 4 { //nolint:mnd // The second half are double quotes.
		straight, place = `"`, place-4
	}
	var plain weights
	plain.add(collator, straight)
	w[0] = append(w[0], plain[0]...)
	w[1] = append(w[1], 0, commonAccent[1]+1+byte(place))
	w[2] = append(w[2], commonCase...)
}
