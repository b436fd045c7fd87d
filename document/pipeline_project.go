package document

import (
	"github.com/botctx/go-sdk/boterr"
)

func compileProjectStage(operand any) (stage, error) {
	return nil, boterr.New(boterr.Unsupported, "", "not yet, got %s", textOf(operand))
}
