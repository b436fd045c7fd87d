package document

import (
	"github.com/botctx/go-sdk/boterr"
)

// stage is one step of an update pipeline.
type stage interface {
	// apply returns what the stage makes of the document of a run.
	apply(run *expressionRun) (any, error)
}

// maxStages is the most stages that a pipeline may have, as in MongoDB.
const maxStages = 1000

// CompilePipeline compiles an update pipeline: an array of the stages $set or
// $addFields, $unset, $project, and $replaceWith or $replaceRoot, whose values are
// aggregation expressions over the document. Each stage sees what the one before made.
// The array filters of CompileUpdate have no place in it.
//
// What MongoDB refuses is InvalidArgument, and so is what this package does not know of
// it; the Field is the path in the array.
func CompilePipeline(stages Array) (*Update, error) {
	if err := stages.Err(); err != nil {
		return nil, err
	}
	if stages.IsZero() {
		return nil, boterr.Invalid("", "the pipeline is absent")
	}
	if stages.Len() > maxStages {
		return nil, boterr.Invalid("", "a pipeline has at most %d stages, got %d", maxStages, stages.Len())
	}
	u := &Update{pipeline: stages}
	for i, source := range stages.All() {
		compiled, err := compileStage(source)
		if err != nil {
			return nil, boterr.In(indexField(i), err)
		}
		u.stages = append(u.stages, compiled)
	}
	return u, nil
}

// namedStage is a stage with its operator.
type namedStage struct {
	operator string
	stage    stage
}

func compileStage(source any) (namedStage, error) {
	o, ok := source.(Object)
	if !ok || o.Len() != 1 {
		return namedStage{}, boterr.Invalid("", "must be an object of one stage, such as {\"$set\": ...}, got %s", textOf(source))
	}
	operator, operand := o.node.shape.keys[0], o.node.at(0)
	var compiled stage
	var err error
	switch operator {
	case "$set", "$addFields":
		compiled, err = compileSetStage(operand)
	case "$unset":
		compiled, err = compileUnsetStage(operand)
	case "$project":
		compiled, err = compileProjectStage(operand)
	case "$replaceWith":
		compiled, err = compileReplaceStage(operand)
	case "$replaceRoot":
		compiled, err = compileReplaceRootStage(operand)
	default:
		err = boterr.Invalid("", "%s is no stage of an update: $set, $addFields, $unset, $project, $replaceWith "+
			"and $replaceRoot are", operator)
	}
	return namedStage{operator: operator, stage: compiled}, boterr.In(operator, err)
}

// runPipeline returns what the stages make of run.document.
func (u *Update) runPipeline(run *updateRun) (Object, error) {
	evaluation := expressionRun{root: run.document, now: run.now, limits: workLimits{call: run.call}}
	for i, s := range u.stages {
		next, err := s.stage.apply(&evaluation)
		if err == nil {
			next, err = evaluation.limits.object(next.(Object))
		}
		if err != nil {
			return Object{}, boterr.In(indexField(i), boterr.In(s.operator, err))
		}
		evaluation.root = next.(Object)
	}
	return evaluation.root, nil
}

// replaceStage is $replaceWith and $replaceRoot.
type replaceStage struct{ document expression }

func compileReplaceStage(operand any) (stage, error) {
	e, err := compileExpression(operand)
	return replaceStage{e}, err
}

func compileReplaceRootStage(operand any) (stage, error) {
	source, err := argumentsIn(operand, "newRoot")
	if err != nil {
		return nil, err
	}
	s, err := compileReplaceStage(source["newRoot"])
	return s, boterr.In("newRoot", err)
}

func (s replaceStage) apply(run *expressionRun) (any, error) {
	value, err := s.document.evaluate(run)
	if err != nil {
		return nil, err
	}
	o, ok := value.(Object)
	if !ok {
		return nil, boterr.Invalid("", "a document can be replaced by an object only, got %s", TypeName(value))
	}
	return o, nil
}
