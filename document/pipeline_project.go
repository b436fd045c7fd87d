package document

import (
	"github.com/botctx/go-sdk/boterr"
)

// projectStage is $project.
type projectStage struct{ tree *projectionNode }

// compileProjectStage compiles $project: a projection in which all operators are those
// of expressions.
func compileProjectStage(operand any) (stage, error) {
	source, ok := operand.(Object)
	if !ok {
		return nil, wrongType("object", operand)
	}
	if source.Len() == 0 {
		return nil, boterr.Invalid("", "must name at least one field")
	}
	c := projectionCompiler{root: &projectionSpec{}, inPipeline: true}
	tree, err := c.compile(source)
	return projectStage{tree}, err
}

func (s projectStage) apply(run *expressionRun) (any, error) { return s.tree.project(run) }
