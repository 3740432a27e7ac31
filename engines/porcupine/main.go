// Checks by porcupine, which knows nothing of how the history came about, whether a history of queues is linearizable.
//
// Reads JSON from standard input: { "operations": [ { "client", "queue", "kind", "item"?, "callMs", "returnMs"? } ] },
// where kind is enqueue, dequeue or peek, item is what was put or got (absent: the queue was empty), and an operation
// without returnMs may have taken effect or not, with an unknown result. Prints { "verdict", "operations" }, where
// verdict is linearizable, not linearizable or unknown (not decided in time).
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

type operation struct {
	Client   int      `json:"client"`
	Queue    string   `json:"queue"`
	Kind     string   `json:"kind"`
	Item     *string  `json:"item"`
	CallMs   float64  `json:"callMs"`
	ReturnMs *float64 `json:"returnMs"`
}

type result struct {
	item    string
	isEmpty bool
	// The result is unknown: any one will do.
	isUnknown bool
}

// The state of a queue is its items, each behind a separator, so that states compare as text.
const separator = "\x00"

func step(state, input, output interface{}) (bool, interface{}) {
	items := state.(string)
	asked := input.(operation)
	got := output.(result)
	if asked.Kind == "enqueue" {
		return true, items + separator + *asked.Item
	}
	first, rest := "", ""
	isEmpty := items == ""
	if !isEmpty {
		parts := strings.SplitN(items[1:], separator, 2)
		first = parts[0]
		if len(parts) == 2 {
			rest = separator + parts[1]
		}
	}
	fits := got.isUnknown || (got.isEmpty == isEmpty && (isEmpty || got.item == first))
	if asked.Kind == "peek" {
		return fits, items
	}
	return fits, rest
}

var model = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byQueue := map[string][]porcupine.Operation{}
		for _, each := range history {
			name := each.Input.(operation).Queue
			byQueue[name] = append(byQueue[name], each)
		}
		parts := [][]porcupine.Operation{}
		for _, part := range byQueue {
			parts = append(parts, part)
		}
		return parts
	},
	Init:  func() interface{} { return "" },
	Step:  step,
	Equal: func(a, b interface{}) bool { return a == b },
}

func micros(ms float64) int64 { return int64(math.Round(ms * 1000)) }

func main() {
	var request struct {
		Operations []operation `json:"operations"`
		TimeoutMs  int         `json:"timeoutMs"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&request); err != nil {
		fmt.Fprintln(os.Stderr, "no history on standard input:", err)
		os.Exit(2)
	}
	history := []porcupine.Operation{}
	for _, each := range request.Operations {
		ends := int64(math.MaxInt64)
		got := result{isUnknown: true}
		if each.ReturnMs != nil {
			ends = micros(*each.ReturnMs)
			got = result{isEmpty: each.Item == nil}
			if each.Item != nil {
				got.item = *each.Item
			}
		} else if each.Kind == "peek" {
			continue
		}
		if each.Kind == "enqueue" && each.Item == nil {
			fmt.Fprintln(os.Stderr, "an enqueue without an item")
			os.Exit(2)
		}
		history = append(history, porcupine.Operation{
			ClientId: each.Client, Input: each, Call: micros(each.CallMs), Output: got, Return: ends,
		})
	}
	timeout := time.Duration(request.TimeoutMs) * time.Millisecond
	if timeout == 0 {
		timeout = time.Minute
	}
	verdicts := map[porcupine.CheckResult]string{
		porcupine.Ok: "linearizable", porcupine.Illegal: "not linearizable", porcupine.Unknown: "unknown",
	}
	verdict := verdicts[porcupine.CheckOperationsTimeout(model, history, timeout)]
	_ = json.NewEncoder(os.Stdout).Encode(map[string]interface{}{"verdict": verdict, "operations": len(history)})
}
