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
	"golang.org/x/text/unicode/norm"
)

// characters has the ranges of the characters that the package collate orders as Node.js does, at all
// strengths. Others have moved in Unicode's order since its tables were created.
//
//go:generate go run ./generate
//go:embed characters.txt
var characters string

// moved has the places of most other characters. The generator's comment describes its form.
//
//go:embed moved.txt
var moved string

// spans are ranges of characters, in their order.
type spans [][2]rune

func (s spans) has(r rune) bool {
	i := sort.Search(len(s), func(i int) bool { return s[i][1] >= r })
	return i < len(s) && s[i][0] <= r
}

// place is the place of a character that collate puts elsewhere.
type place struct {
	// after is the preceding character, and level the first level at which the two differ.
	after string
	level int
	// rest is added at each level to the weight of after, or to the usual weight beyond level.
	rest [levels]string
}

// sorter creates sort keys.
type sorter struct {
	known, split spans
	places       map[rune]place
	// collators has a *sync.Pool for each language.
	collators sync.Map
}

func newSorter() *sorter {
	s := &sorter{places: map[rune]place{}}
	for field := range strings.FieldsSeq(characters) {
		s.known = append(s.known, span(field))
	}
	for field := range strings.FieldsSeq(moved) {
		if characters, isSplit := strings.CutPrefix(field, "="); isSplit {
			s.split = append(s.split, span(characters))
		} else {
			s.placeAll(field)
		}
	}
	return s
}

// span reads a range of characters, or a single one.
func span(text string) [2]rune {
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		last = first
	}
	var ends [2]rune
	if _, err := fmt.Sscanf(first+" "+last, "%x %x", &ends[0], &ends[1]); err != nil {
		panic(fmt.Sprintf("the data of localeCompare has %q: %v", text, err))
	}
	return ends
}

// placeAll places the characters of a chain like a<b<<c=d.
func (s *sorter) placeAll(chain string) {
	const signs = "<="
	end := strings.IndexAny(chain, signs)
	next := place{after: s.spelled(span(chain[:end])[0]), level: levels}
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
			s.places[r] = next
		}
	}
}

// spelled returns a character as it is passed to collate: a CGJ separates an accent that collate does not
// treat as an accent.
func (s *sorter) spelled(r rune) string {
	if !s.split.has(r) {
		return string(r)
	}
	parts := []rune(norm.NFD.String(string(r)))
	return string(parts[0]) + "\u034F" + string(parts[1:])
}

// sorted is a text to build a key from. Levels is the number of levels that count: letters, accents, case.
type sorted struct {
	Text     string       `json:"text"`
	Language language.Tag `json:"language"`
	Numeric  bool         `json:"numeric"`
	Levels   int          `json:"levels"`
}

const (
	levels     = 3
	mostSorted = 100_000 // bytes
	// between begins the text added to the weight of a letter to come before the next one.
	between = "\xFF"
	// mostDigits is the number of digits that count as one number.
	mostDigits = 254
)

// usual are the weights of a small letter without an accent, beyond the first level.
var usual = [levels]string{"", "\x00\x20", "\x02"}

// weights are the weights of a text at each level, as in the keys of package collate.
type weights [levels][]byte

// key returns a text that is less than the keys of greater texts, by UTF-16 and by bytes.
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
			key.WriteRune(0x100 + rune(b)) // JSON does not escape these.
		}
		key.WriteByte(' ')
	}
	return key.String(), nil
}

// weigh returns the weights of a text. Characters that collate orders differently from Node.js get special
// weights.
func (s *sorter) weigh(collator *collate.Collator, given sorted) (weights, error) {
	var made weights
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
		case s.known.has(r), given.Language == language.Ukrainian && unicode.ToLower(r) == 'ї': // In Ukrainian it is a letter.
			plain.WriteRune(r)
		case s.split.has(r):
			plain.WriteString(s.spelled(r))
		default:
			place, isPlaced := s.places[r]
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

// numberIn returns the number of leading digits of a text.
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

// addAfter adds the weights of a moved character.
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
