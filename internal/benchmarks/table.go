package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// The columns of the table, as contenders has them.
const (
	compiledColumn = iota
	documentsColumn
	lungoColumn
	typedColumn
	treesColumn
)

// printRatios prints what the goals are about: every task with every engine.
func printRatios(ctx context.Context, out *strings.Builder, s settings) error {
	fmt.Fprint(out, "| work | memstore | memstore, filters as documents | lungo | by hand | "+
		"times faster than lungo | goal | times slower than by hand | goal |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, t := range tasks {
		timings, err := compete(ctx, t, s, compiledColumn, documentsColumn, lungoColumn, typedColumn)
		if err != nil {
			return fmt.Errorf("%s: %w", t.title, err)
		}
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", t.title,
			timings[compiledColumn], timings[documentsColumn], timings[lungoColumn], timings[typedColumn],
			ratios(timings, fasterThanLungo), verdict(timings, fasterThanLungo, t.goal.overLungo, 1),
			ratios(timings, slowerThanTyped), verdict(timings, slowerThanTyped, t.goal.ofTyped, -1))
	}
	return nil
}

// printTrees prints every task that go-memdb has means for, beside it.
func printTrees(ctx context.Context, out *strings.Builder, s settings) error {
	fmt.Fprint(out, "| work | memstore | memstore, filters as documents | go-memdb | times faster than go-memdb | goal |\n"+
		"|---|---|---|---|---|---|\n")
	for _, t := range tasks {
		if t.goal.overTrees == 0 {
			continue
		}
		timings, err := compete(ctx, t, s, compiledColumn, documentsColumn, treesColumn)
		if err != nil {
			return fmt.Errorf("%s: %w", t.title, err)
		}
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s |\n", t.title,
			timings[compiledColumn], timings[documentsColumn], timings[treesColumn],
			ratios(timings, fasterThanTrees), verdict(timings, fasterThanTrees, t.goal.overTrees, 1))
	}
	return nil
}

// ratio compares one of memstore's columns with another engine's.
type ratio func(timings []timing, column int) (float64, bool)

func fasterThanLungo(timings []timing, column int) (float64, bool) {
	return float64(timings[lungoColumn] / timings[column]), timings[lungoColumn] != lacking
}

func fasterThanTrees(timings []timing, column int) (float64, bool) {
	return float64(timings[treesColumn] / timings[column]), timings[treesColumn] != lacking
}

func slowerThanTyped(timings []timing, column int) (float64, bool) {
	return float64(timings[column] / timings[typedColumn]), true
}

// ratios shows a ratio for compiled filters and for filters as documents.
func ratios(timings []timing, of ratio) string {
	compiled, ok := of(timings, compiledColumn)
	if !ok {
		return "-"
	}
	documents, _ := of(timings, documentsColumn)
	return shortNumber(compiled) + " / " + shortNumber(documents)
}

// verdict tells a goal, and whether each of the two ratios reaches it. The sign is
// 1 where a ratio should be at least the goal, -1 where at most.
func verdict(timings []timing, of ratio, aim, sign float64) string {
	if aim == 0 {
		return ""
	}
	text := "≥ "
	if sign < 0 {
		text = "≤ "
	}
	text += shortNumber(aim)
	for _, column := range []int{compiledColumn, documentsColumn} {
		switch reached, ok := of(timings, column); {
		case !ok:
			return ""
		case reached*sign >= aim*sign:
			text += " yes"
		default:
			text += " no"
		}
	}
	return text
}

// String shows a timing with two digits and its unit.
func (t timing) String() string {
	switch {
	case t == lacking:
		return "-"
	case t < timing(time.Microsecond):
		return shortNumber(float64(t)) + " ns"
	case t < timing(time.Millisecond):
		return shortNumber(float64(t/timing(time.Microsecond))) + " µs"
	case t < timing(time.Second):
		return shortNumber(float64(t/timing(time.Millisecond))) + " ms"
	default:
		return shortNumber(float64(t/timing(time.Second))) + " s"
	}
}

// shortNumber shows two digits, all of those before the point.
func shortNumber(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}
