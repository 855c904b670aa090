package names

import (
	"encoding/json"
	"fmt"
	"go/ast"

	"github.com/ashanbrown/forbidigo/v2/forbidigo"
	"golang.org/x/tools/go/analysis"

	"github.com/natsd/natsd/lint/rooms"
)

// Analyzer reports uses of forbidden functions in pure packages.
var Analyzer = &analysis.Analyzer{
	Name: "names",
	Doc:  "report functions that pure packages may not name (D1, D2, D3, D5)",
	Run:  run,
}

// rule is one of forbidigo's patterns: functions of a package, and what to say. The pattern is
// matched against "package.Function" or "package.Type.Method" whatever the import is called.
type rule struct {
	Pattern string `json:"p"`
	Package string `json:"pkg"`
	Message string `json:"msg"`
}

var rules = []rule{
	{
		`^time\.(Now|Since|Until|Sleep|After|AfterFunc|Tick|NewTimer|NewTicker)$`, `^time$`,
		"D2: time comes from the engine's Clock",
	},
	{
		`^time\.(Local|LoadLocation)$|^time\.Time\.Local$`, `^time$`,
		"D2: the machine's time zone differs between machines",
	},
	{
		`^context\.(WithDeadline|WithDeadlineCause|WithTimeout|WithTimeoutCause|AfterFunc)$`, `^context$`,
		"D2: deadlines are timers of the engine",
	},
	{
		`^rand\.(ExpFloat64|Float32|Float64|Int|Int31|Int31n|Int63|Int63n|Intn|NormFloat64|Perm|Read|Seed|Shuffle|Uint32|Uint64)$`,
		`^math/rand$`, "D3: draw from a *rand.Rand derived per node and purpose",
	},
	{
		`^rand\.(ExpFloat64|Float32|Float64|Int|Int32|Int32N|Int64|Int64N|IntN|N|NormFloat64|Perm|Shuffle|Uint|Uint32|Uint32N|Uint64|Uint64N|UintN)$`,
		`^math/rand/v2$`, "D3: draw from a *rand.Rand derived per node and purpose",
	},
	{
		`^(rsa|ecdsa|ed25519|dsa|ecdh)\.(GenerateKey|GenerateMultiPrimeKey|GenerateParameters|Curve\.GenerateKey)$`,
		`^crypto/`, "D3: keys are drawn from the system's random source whatever reader they are given",
	},
	{
		`^(rsa\.(EncryptOAEP|EncryptOAEPWithOptions|EncryptPKCS1v15|SignPSS)|ecdsa\.(Sign|SignASN1))$`,
		`^crypto/`, "D3: blinding and salts are drawn from the system's random source",
	},
	{
		`^mlkem\.(GenerateKey768|GenerateKey1024|EncapsulationKey768\.Encapsulate|EncapsulationKey1024\.Encapsulate)$`,
		`^crypto/mlkem$`, "D3: keys and secrets are drawn from the system's random source",
	},
	{
		`^bcrypt\.GenerateFromPassword$`, `^golang\.org/x/crypto/bcrypt$`,
		"D3: the salt is drawn from the system's random source",
	},
	{
		`^nkeys\.Create`, `^github\.com/nats-io/nkeys$`,
		"D3: keys are drawn from the system's random source; use nkeys.FromRawSeed",
	},
	{
		`^nkeys\.(KeyPair\.)?Seal$`, `^github\.com/nats-io/nkeys$`,
		"D3: the nonce is drawn from the system's random source; use SealWithRand",
	},
	{`^iter\.(Pull|Pull2)$`, `^iter$`, "D1: a pulled iterator is a goroutine in disguise"},
	{
		`^fmt\.(Print|Printf|Println|Scan|Scanf|Scanln)$`, `^fmt$`,
		"D5: the terminal belongs to cmd; log through the engine's Log",
	},
}

func run(pass *analysis.Pass) (any, error) {
	if rooms.OfPass(pass).Kind != rooms.Pure {
		return nil, nil
	}
	patterns := make([]string, 0, len(rules))
	for _, r := range rules {
		text, err := json.Marshal(r) // forbidigo reads a pattern with its package from YAML, or JSON
		if err != nil {
			return nil, fmt.Errorf("forbidden names: %w", err)
		}
		patterns = append(patterns, string(text))
	}
	linter, err := forbidigo.NewLinter(patterns,
		forbidigo.OptionIgnorePermitDirectives(true),
		forbidigo.OptionExcludeGodocExamples(false),
		forbidigo.OptionAnalyzeTypes(true))
	if err != nil {
		return nil, fmt.Errorf("forbidden names: %w", err)
	}
	nodes := make([]ast.Node, 0, len(pass.Files))
	for _, file := range pass.Files {
		nodes = append(nodes, file)
	}
	issues, err := linter.RunWithConfig(forbidigo.RunConfig{Fset: pass.Fset, TypesInfo: pass.TypesInfo}, nodes...)
	if err != nil {
		return nil, err
	}
	for _, issue := range issues {
		pass.Reportf(issue.Pos(), "%s", issue.Details())
	}
	return nil, nil
}
