// Says what Go's own regexp package makes of patterns.
//
// "cases" reads one case per line as JSON, {"pattern": ..., "texts": [...]}, and writes one verdict per line:
// "-" for a pattern that is refused, otherwise one digit per text, 1 where some part of the text matches.
//
// "sets" writes one line for each category and script: its name, "refused" or "taken" as \p{name}, and its
// characters as ranges. "folds" writes, per line, characters that are the same but for their case.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

type testCase struct {
	Pattern string
	Texts   []string
}

func verdict(given testCase) string {
	pattern, err := regexp.Compile(given.Pattern)
	if err != nil {
		return "-"
	}
	digits := []byte{}
	for _, text := range given.Texts {
		if pattern.MatchString(text) {
			digits = append(digits, '1')
		} else {
			digits = append(digits, '0')
		}
	}
	return string(digits)
}

func cases(out io.Writer) error {
	decoder := json.NewDecoder(bufio.NewReader(os.Stdin))
	for {
		var given testCase
		if err := decoder.Decode(&given); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		fmt.Fprintln(out, verdict(given))
	}
}

func rangesOf(table *unicode.RangeTable) []rune {
	ranges := []rune{}
	for _, each := range table.R16 {
		for at := rune(each.Lo); at <= rune(each.Hi); at += rune(each.Stride) {
			ranges = append(ranges, at, at)
		}
	}
	for _, each := range table.R32 {
		for at := rune(each.Lo); at <= rune(each.Hi); at += rune(each.Stride) {
			ranges = append(ranges, at, at)
		}
	}
	return ranges
}

func sets(out io.Writer) error {
	names := []string{"Any", "ASCII", "Assigned"}
	for name := range unicode.Categories {
		names = append(names, name)
	}
	for name := range unicode.Scripts {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		said, ranges := "taken", []rune{}
		if found, err := syntax.Parse(`\p{`+name+`}`, syntax.Perl); err != nil {
			said, ranges = "refused", rangesOf(unicode.Scripts[name])
		} else if found.Op == syntax.OpAnyChar {
			ranges = []rune{0, unicode.MaxRune}
		} else if found.Op == syntax.OpLiteral {
			ranges = []rune{found.Rune[0], found.Rune[0]}
		} else {
			ranges = found.Rune
		}
		fmt.Fprintln(out, name, said, strings.Trim(fmt.Sprint(ranges), "[]"))
	}
	return nil
}

func folds(out io.Writer) error {
	for first := rune(0); first <= unicode.MaxRune; first++ {
		orbit := []rune{first}
		for next := unicode.SimpleFold(first); next != first; next = unicode.SimpleFold(next) {
			orbit = append(orbit, next)
		}
		if len(orbit) > 1 && slices.Min(orbit) == first {
			fmt.Fprintln(out, strings.Trim(fmt.Sprint(orbit), "[]"))
		}
	}
	return nil
}

func main() {
	out := bufio.NewWriter(os.Stdout)
	does := map[string]func(io.Writer) error{"cases": cases, "sets": sets, "folds": folds}
	err := does[os.Args[1]](out)
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
