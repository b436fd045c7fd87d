package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"
)

// printMemory prints how much memory a document takes in each engine, its own
// strings included.
func printMemory(ctx context.Context, out *strings.Builder, _ settings) error {
	fmt.Fprint(out, "| bytes per document | without an index | with an index |\n|---|---|---|\n")
	for _, c := range contenders {
		if c.name == "memstore-documents" {
			continue
		}
		plain, err := bytesPerDocument(ctx, c, noIndex)
		if err != nil {
			return err
		}
		indexed, err := bytesPerDocument(ctx, c, onName)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "| %s | %d | %d |\n", c.name, plain, indexed)
	}
	return nil
}

// bytesPerDocument fills an engine and counts what stays reachable.
func bytesPerDocument(ctx context.Context, c contender, index indexName) (int64, error) {
	t := task{kind: findAll, documents: plenty, index: index}
	before := heap()
	filled, err := c.start(ctx, t)
	if err != nil {
		return 0, err
	}
	with := heap() - before
	filled.close()
	return with / plenty, nil
}

// heap returns the bytes that are reachable.
func heap() int64 {
	runtime.GC() //nolint:revive // Only what is reachable is to count.
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
