package server

import (
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/natsd/natsd/conf/schema"
	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/host"
)

const usage = `Usage: natsd [flags]
       natsd healthcheck [url]    exit 0 if a server is well
       natsd sim [flags]          simulate servers and clients under faults; natsd sim -h tells more

Server:
    -a, --addr, --net <host>         address to listen on (default 0.0.0.0)
    -p, --port <port>                port for clients (default 4222; -1: any free one)
    -n, --name
        --server_name <name>         name of the server (default: its id)
    -P, --pid <file>                 write the process id to this file
    -m, --http_port <port>           port for HTTP monitoring
    -ms, --https_port <port>         port for HTTPS monitoring, with the certificate of TLS
        --profile <port>             port for profiles of the process
    -c, --config <file>              configuration file; flags win over it
    -t                               check the configuration and exit
    -sl, --signal <signal>[=<pid>]   tell a running server to ldm, quit, reload, reopen, stop or term and exit; <pid> is its
                                     process id, its pid file, a pattern of pid files, or the beginning of ids and a *
        --explain <user>             with -t: say what the user may do with a subject, and where that goes;
                                     followed by the subject, and a queue group if there is one
        --client_advertise <addr>    address told to clients instead of the one listened on
        --ports_file_dir <dir>       write the ports in use to <dir>/natsd_<pid>.ports
        --portable                   use the portable event loop even where a faster one exists

Logging:
    -l, --log <file>                 write the log to this file
        --log_size_limit <bytes>     put the file aside when it is larger and begin another
    -s, --syslog                     write the log to syslog, where no file is named
    -r, --remote_syslog <url>        or to another machine's: udp://host:port or tcp://host:port
    -T, --logtime                    timestamp log lines (default true)
        --logtime_utc                timestamps in UTC
    -D, --debug                      log what happens to connections
    -V, --trace                      log the protocol
    -VV                              what the server itself publishes too
    -DV, -DVV                        both
        --max_traced_msg_len <bytes> how much of a message is logged (default all)
        --log_format <text|json>     form of the log lines (default text)

Authorization:
        --user <user>                user that clients must name
        --pass <password>            and the password, or its bcrypt hash
        --auth <token>               token that clients must present, or its bcrypt hash

TLS:
        --tls                        require TLS of clients, as a certificate does; --tls=false: not, whatever the file says
        --tlscert <file>             the server's certificate
        --tlskey <file>              and its key
        --tlsverify                  require TLS and a certificate of clients
        --tlscacert <file>           the authorities that clients' certificates must be of (default: the system's)

Common:
    -h, --help                       this text
    -v, --version                    natsd's version and the compatible nats-server version
        --help_tls                   what a tls block may say
`

// settings are what flags and configuration file ask for.
type settings struct {
	engine     engine.Options
	log        host.LogOptions
	portable   bool
	signal     string // to be sent instead of serving; see sendSignal
	pidFile    string
	portsDir   string
	configFile string
	file       *configFile // what it says, and what is wrong; nil: there is none
	tls        tlsSettings
	// of operator mode
	accountDir  string
	resolverTLS *config.TLS
	fetch       *tls.Config // made of resolverTLS by check
	monitorSettings

	digest   string   // of the configuration file
	warnings []string // about it
	doubts   bool     // there are some that -t refuses
	empty    bool     // the file says nothing

	testOnly    bool
	explain     string   // the user to explain for
	asked       []string // with explain: a subject, and a queue group perhaps
	showVersion bool
	showHelp    bool
	showHelpTLS bool
}

// shows reports whether something is to be printed instead of serving.
func (s *settings) shows() bool { return s.showHelp || s.showHelpTLS || s.showVersion }

// later are nats-server's flags whose features natsd does not have yet. Nothing is accepted and ignored.
var later = map[string]string{
	"js": "JetStream", "jetstream": "JetStream", "sd": "JetStream", "store_dir": "JetStream",
	"routes": "clustering", "cluster": "clustering", "cluster_name": "clustering", "no_advertise": "clustering",
	"cluster_advertise": "clustering", "connect_retries": "clustering", "cluster_listen": "clustering",
}

// given are flags that need more than being stored.
type given struct {
	port, httpPort, httpsPort, profile, format string
	debugTrace                                 bool
	verbose, debugVerbose                      bool
}

// flagSet declares the flags. Parsing sets s and g; what is not given keeps its value.
func flagSet(s *settings, g *given) *flag.FlagSet {
	fs := flag.NewFlagSet("natsd", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	str := func(p *string, names ...string) {
		for _, n := range names {
			fs.StringVar(p, n, *p, "")
		}
	}
	on := func(p *bool, names ...string) {
		for _, n := range names {
			fs.BoolVar(p, n, *p, "")
		}
	}
	str(&s.engine.Host, "a", "addr", "net")
	str(&g.port, "p", "port")
	str(&s.engine.ServerName, "n", "name", "server_name")
	str(&s.pidFile, "P", "pid")
	str(&g.httpPort, "m", "http_port")
	str(&g.httpsPort, "ms", "https_port")
	str(&g.profile, "profile")
	str(&s.configFile, "c", "config")
	str(&s.engine.ClientAdvertise, "client_advertise")
	str(&s.portsDir, "ports_file_dir")
	str(&s.log.File, "l", "log")
	fs.Int64Var(&s.log.SizeLimit, "log_size_limit", s.log.SizeLimit, "")
	on(&s.log.Syslog, "s", "syslog")
	str(&s.log.RemoteSyslog, "r", "remote_syslog")
	str(&s.signal, "sl", "signal")
	str(&g.format, "log_format")
	str(&s.engine.User, "user")
	str(&s.engine.Pass, "pass")
	str(&s.engine.Token, "auth")
	s.tls.flags(fs, str, on)
	on(&s.testOnly, "t")
	str(&s.explain, "explain")
	for _, n := range []string{"T", "logtime"} {
		fs.BoolFunc(n, "", func(v string) error {
			shown, err := strconv.ParseBool(v)
			s.log.NoTime = !shown
			return err
		})
	}
	on(&s.log.UTC, "logtime_utc")
	on(&s.engine.Debug, "D", "debug")
	on(&s.engine.Trace, "V", "trace")
	on(&g.debugTrace, "DV")
	on(&g.verbose, "VV")
	on(&g.debugVerbose, "DVV")
	fs.IntVar(&s.engine.MaxTraced, "max_traced_msg_len", s.engine.MaxTraced, "")
	on(&s.portable, "portable")
	on(&s.showVersion, "v", "version")
	on(&s.showHelp, "h", "help")
	on(&s.showHelpTLS, "help_tls")
	return fs
}

// parseFlags reads the command line over the configuration file that it may name. Errors are for the user.
func parseFlags(args []string) (*settings, error) {
	s, g := &settings{}, &given{}
	fs := flagSet(s, g)
	words, err := parseAll(fs, args)
	if err != nil {
		return nil, err
	}
	if len(words) > 0 { // as nats-server takes them
		s.showHelp, s.showVersion = s.showHelp || words[0] == "help", s.showVersion || words[0] == "version"
	}
	if s.shows() {
		return s, nil
	}
	explain := false
	fs.Visit(func(f *flag.Flag) { explain = explain || f.Name == "explain" })
	switch {
	case !explain && len(words) > 0:
		return nil, fmt.Errorf("unexpected argument %q: natsd takes flags only", words[0])
	case explain && !s.testOnly:
		return nil, errors.New("--explain goes with -t")
	case explain && (len(words) == 0 || len(words) > 2):
		return nil, errors.New("--explain takes a user, a subject and perhaps a queue group: natsd -t -c file --explain alice orders.new")
	}
	if s.signal != "" {
		return s, nil
	}
	if file := s.configFile; file != "" {
		// The file over the defaults, then the flags again over the file.
		*s = settings{configFile: file}
		s.readConfig(file)
		again := flagSet(s, g)
		if _, err := parseAll(again, args); err != nil {
			return nil, err
		}
		if err := s.overrule(again); err != nil {
			return nil, err
		}
	}
	s.asked = words
	if err := s.take(g); err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	return s, nil
}

// parseAll parses flags wherever they stand and returns what is between them.
func parseAll(fs *flag.FlagSet, args []string) (words []string, err error) {
	for {
		if err := fs.Parse(args); err != nil {
			return nil, flagError(err)
		}
		if fs.NArg() == 0 {
			return words, nil
		}
		words, args = append(words, fs.Arg(0)), fs.Args()[1:]
	}
}

// take applies the flags that need more than being stored.
func (s *settings) take(g *given) (err error) {
	if g.port != "" {
		if s.engine.Port, err = parsePort("-p", g.port); err != nil {
			return err
		}
	}
	for _, p := range []struct {
		text, name string
		to         *int
	}{{g.httpPort, "-m", &s.httpPort}, {g.httpsPort, "-ms", &s.httpsPort}, {g.profile, "--profile", &s.profPort}} {
		if p.text != "" {
			if *p.to, err = parsePort(p.name, p.text); err != nil {
				return err
			}
		}
	}
	switch g.format {
	case "", "text":
	case "json":
		s.log.Format = host.LogJSON
	default:
		return fmt.Errorf("--log_format %q: it must be text or json", g.format)
	}
	o := &s.engine
	o.Debug = o.Debug || g.debugTrace || g.debugVerbose
	o.TraceVerbose = o.TraceVerbose || g.verbose || g.debugVerbose
	o.Trace = o.Trace || g.debugTrace || g.verbose || g.debugVerbose
	s.log.Debug, s.log.Trace = s.engine.Debug, s.engine.Trace
	s.engine.NatsdVersion, s.engine.GitCommit = version, Commit()
	return nil
}

// portMax is the largest TCP port.
const portMax = 65535

func parsePort(name, v string) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < -1 || n > portMax {
		return 0, fmt.Errorf("%s %q: a port is a number from 0 to 65535, or -1 for any free one", name, v)
	}
	return n, nil
}

// flagError says what is wrong with the flags in words of its own.
func flagError(err error) error {
	const undefined = "flag provided but not defined: -"
	if name, ok := strings.CutPrefix(err.Error(), undefined); ok {
		if feature := later[name]; feature != "" {
			return fmt.Errorf("-%s: natsd does not have %s yet", name, feature)
		}
		if near := schema.Nearest(name, flagNames()); near != "" {
			return fmt.Errorf("unknown flag -%s: did you mean -%s? (natsd -h lists them)", name, near)
		}
		return fmt.Errorf("unknown flag -%s (natsd -h lists them)", name)
	}
	return err
}

// flagNames are the names of all flags, those for features that are not there included.
func flagNames() (names []string) {
	flagSet(&settings{}, &given{}).VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	for name := range later {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
