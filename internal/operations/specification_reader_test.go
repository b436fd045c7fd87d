package operations_test

import (
	"regexp"
	"strings"
)

type specOperation struct {
	name       string
	platforms  []string
	parameters []specParameter
	// within holds, by parameter, the fields that the text below the table describes.
	within map[string][]specParameter
	// keys are the keys of the result, if the specification lists them.
	keys []string
	// like is the operation whose result has the same keys, if the specification names one.
	like string
}

type specParameter struct {
	name         string
	declaredType string
	defaultValue string
	optional     bool
}

// specification is the content of interface.md.
type specification struct {
	operations []*specOperation
	// records holds the fields of each record, by the heading of the record.
	records map[string][]string
	updated []string
}

var (
	firstWord    = regexp.MustCompile("^`?(\\w+)`?(.*)$")
	updatedMark  = regexp.MustCompile(`^- These operations are marked as updated: (.*)\.$`)
	described    = regexp.MustCompile("^`(\\w+)` (?:parameters:|executes|requests)")
	fieldsWithin = regexp.MustCompile("^`?(\\w+)`?: `\\w+` \\(")
	fieldWithin  = regexp.MustCompile("`(\\w+)` \\(([^)]*)\\)")
	resultLike   = regexp.MustCompile(`(?:same.* as|shaped as the) (\w+)`)
	defaultIs    = regexp.MustCompile("\\bdefault `?(\\w+)`?")
	typeIs       = regexp.MustCompile(`^(?:opt )?(?:typed )?(array|string|number|boolean|object)\b`)
	quotedName   = regexp.MustCompile("`(\\w+)`")
	headingMark  = regexp.MustCompile(`^#+ (.*?)(?: \(.*)?$`)
)

// readSpecification parses a text in the format of interface.md.
func readSpecification(text string) specification {
	read := specification{records: map[string][]string{}}
	var heading string
	var header []string
	var current *specOperation
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if match := headingMark.FindStringSubmatch(line); match != nil {
			heading, header, current = match[1], nil, nil
		}
		if match := updatedMark.FindStringSubmatch(line); match != nil {
			read.updated = strings.Split(match[1], ", ")
		}
		if match := described.FindStringSubmatch(line); match != nil {
			current = &specOperation{name: match[1], within: map[string][]specParameter{}}
			read.operations = append(read.operations, current)
		}
		cells := tableCells(line)
		switch {
		case cells == nil:
			header = nil
			read.readProse(heading, line, current)
		case header == nil:
			header = cells
		case strings.HasPrefix(cells[0], "---"):
		case header[0] == "Operation" && len(header) > 1 && header[1] == "Parameters":
			read.operations = append(read.operations, operationOfRow(cells))
		case current != nil:
			current.parameters = append(current.parameters, parameterOfRow(cells))
		case header[0] == "Field":
			read.records[heading] = append(read.records[heading], strings.Split(cells[0], ", ")...)
		}
	}
	return read
}

// readProse parses a line outside tables: the fields of a record or parameter, or the result of the current
// operation.
func (s *specification) readProse(heading, line string, current *specOperation) {
	switch {
	case current != nil && strings.HasPrefix(line, "Response: "):
		if shapes := keysOfShapes(line); len(shapes) > 0 {
			current.keys = shapes[0] // The others describe nested values.
		}
	case current != nil && fieldsWithin.MatchString(line):
		name := fieldsWithin.FindStringSubmatch(line)[1]
		for _, match := range fieldWithin.FindAllStringSubmatch(line, -1) {
			current.within[name] = append(current.within[name], parameterOf(match[1], match[2]))
		}
	case current == nil && strings.HasPrefix(line, "`") && s.records[heading] == nil:
		for _, match := range quotedName.FindAllStringSubmatch(line, -1) {
			s.records[heading] = append(s.records[heading], match[1])
		}
	}
}

// tableCells returns the cells of a table row, or nil for other lines.
func tableCells(line string) []string {
	if !strings.HasPrefix(line, "|") {
		return nil
	}
	cells := strings.Split(strings.Trim(line, "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

// operationOfRow parses "name (platforms only) | parameters | response".
func operationOfRow(cells []string) *specOperation {
	match := firstWord.FindStringSubmatch(cells[0])
	read := &specOperation{name: match[1], parameters: parametersOfCell(cells[1])}
	if only, ok := strings.CutSuffix(strings.Trim(match[2], " ()"), " only"); ok {
		for platform := range strings.FieldsFuncSeq(strings.ToLower(only), func(r rune) bool { return r == ',' || r == ' ' }) {
			if platform != "and" {
				read.platforms = append(read.platforms, platform)
			}
		}
	}
	if len(cells) < 3 {
		return read
	}
	for _, keys := range keysOfShapes(cells[2]) {
		read.keys = append(read.keys, keys...)
	}
	if match := resultLike.FindStringSubmatch(cells[2]); match != nil {
		read.like = match[1]
	}
	return read
}

// parametersOfCell parses "name (type, default x); one (type) or other (type)".
func parametersOfCell(cell string) []specParameter {
	var parameters []specParameter
	for _, part := range splitOutside(firstSentence(cell), "; ") {
		for _, one := range splitOutside(part, " or ") {
			name, description, _ := strings.Cut(one, "(")
			parameters = append(parameters, parameterOf(nameIn(name), strings.TrimSuffix(description, ")")))
		}
	}
	return parameters
}

// nameIn returns the name in "name", "name as other words" or "some-words as name".
func nameIn(text string) string {
	first, last, _ := strings.Cut(strings.TrimSpace(text), " as ")
	if strings.ContainsAny(first, " -") {
		return last
	}
	return first
}

// parameterOfRow parses "name | type | rule".
func parameterOfRow(cells []string) specParameter {
	read := parameterOf(cells[0], cells[1]+", "+cells[2])
	read.optional = strings.HasPrefix(cells[2], "opt")
	return read
}

// parameterOf parses a name and "opt type, default x, further words".
func parameterOf(name, description string) specParameter {
	read := specParameter{name: name, optional: strings.HasPrefix(description, "opt")}
	if match := defaultIs.FindStringSubmatch(description); match != nil {
		read.defaultValue = match[1]
	}
	if match := typeIs.FindStringSubmatch(description); match != nil {
		read.declaredType = match[1]
	}
	return read
}

// keysOfShapes returns the top-level keys of each object in backquotes, such as `{ok: number, member: object
// or null}`.
func keysOfShapes(text string) [][]string {
	var shapes [][]string
	for i, code := range strings.Split(text, "`") {
		if i%2 == 0 || !strings.Contains(code, "{") {
			continue
		}
		inner := code[strings.Index(code, "{")+1 : strings.LastIndex(code, "}")]
		var keys []string
		for _, field := range splitOutside(inner, ", ") {
			key, _, _ := strings.Cut(field, ":")
			key, _, _ = strings.Cut(key, " (")
			keys = append(keys, key)
		}
		shapes = append(shapes, keys)
	}
	return shapes
}

// firstSentence returns the text before the first full stop outside parentheses.
func firstSentence(text string) string {
	return splitOutside(text, ". ")[0]
}

// splitOutside splits text at each separator outside parentheses, braces and angle brackets.
func splitOutside(text, separator string) []string {
	var parts []string
	depth, start := 0, 0
	for i, r := range text {
		switch {
		case strings.ContainsRune("({<", r):
			depth++
		case strings.ContainsRune(")}>", r):
			depth--
		}
		if depth == 0 && i >= start && strings.HasPrefix(text[i:], separator) {
			parts = append(parts, text[start:i])
			start = i + len(separator)
		}
	}
	return append(parts, text[start:])
}
