package fakes

import "fmt"

// Planned returns the faults of calls that are still to come, each as a sentence, such as "sendResponse fails
// with Unavailable", in the order in which they were planned. Those of FailNextMail and its like are not among
// them.
func (p *Platform) Planned() []string {
	var texts []string
	for _, planned := range p.faults.all() {
		text := planned.String()
		if planned.after > 0 {
			text = fmt.Sprintf("call %d from now on: %s", planned.after+1, text)
		}
		texts = append(texts, text)
	}
	return texts
}
