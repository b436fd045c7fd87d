package nodefile

import "fmt"

// Problem is something that is wrong with a folder.
type Problem struct {
	// Place is where.
	Place Place
	// Field is the path of the field in the file, such as "nodes[2].preActions[0]", "" for the file itself.
	Field string
	// Text says what is wrong and what to do.
	Text string
}

// String returns the place, the field and the text.
func (p Problem) String() string {
	if p.Field == "" {
		return fmt.Sprintf("%s: %s", p.Place, p.Text)
	}
	return fmt.Sprintf("%s: %s: %s", p.Place, p.Field, p.Text)
}

// field joins the path of an object with the name of a field.
func field(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
