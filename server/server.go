package server

import (
	"fmt"
	"net"
	"strconv"
	"sync/atomic"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/host"
)

// Options say what a server is like. The zero value is one on a free port of 127.0.0.1 that only this machine reaches.
type Options struct {
	// ConfigFile is a configuration file, as natsd's -c takes it. What is said here wins over it.
	ConfigFile string
	// Host is the address to listen on. Default: what the configuration file says, else 127.0.0.1.
	Host string
	// Port is for clients; 0 or less: any free one, unless the configuration file says which.
	Port int
	// Flags are further flags of natsd, such as "--user", "ann", "--pass", "s3cret" or "-m", "-1".
	Flags []string

	// Log takes the lines of the server's log, from any goroutine; it must not block for long. Default: where the
	// configuration says, else standard error.
	Log engine.Log
	// Tune changes what has no flag, here and at every reload, where only Engine counts. What it sets is not checked.
	Tune func(*host.Options)
}

// args are the flags that say the same.
func (o *Options) args() []string {
	var args []string
	if o.ConfigFile != "" {
		args = append(args, "-c", o.ConfigFile)
	}
	switch {
	case o.Host != "":
		args = append(args, "-a", o.Host)
	case o.ConfigFile == "":
		args = append(args, "-a", "127.0.0.1")
	}
	switch {
	case o.Port > 0:
		args = append(args, "-p", strconv.Itoa(o.Port))
	case o.ConfigFile == "":
		args = append(args, "-p", "-1")
	}
	return append(args, o.Flags...)
}

// Server is a server that runs in this process. Its methods may be called from any goroutine.
type Server struct {
	started *settings
	current *settings // what was read last; for whoever reloads
	args    []string
	tune    func(*host.Options)
	log     engine.Log
	logger  *host.Logger // log, where natsd's own; nil: it is somebody else's
	owned   bool         // logger is to be closed at the end

	host     *host.Server
	monitor  *host.Monitoring // nil: there is none
	profiles *host.Profiling  // nil: there is none
	files    files            // to be removed at the end; set when the host is ready, and by reloads
	unstaple func()
	peers    *peers

	leaving   atomic.Bool   // lame duck mode was asked for
	reloading chan struct{} // holds a token while nobody reloads
	done      chan struct{}
	err       error // valid when done is closed
}

// Start starts a server and returns when it serves. Stop ends it. The error says what is wrong with the flags or the configuration, all of
// it at once, or which port, file or certificate can't be opened; nothing is left running then.
func Start(o Options) (*Server, error) {
	args := o.args()
	s, err := parseFlags(args)
	if err != nil {
		return nil, err
	}
	if s.shows() || s.testOnly || s.signal != "" {
		return nil, fmt.Errorf("server: flags that don't serve: %q", o.Flags)
	}
	if o.ConfigFile != "" && o.Port <= 0 && s.engine.Port == 0 {
		args = append(args, "-p", "-1")
		s.engine.Port = -1
	}
	var own *host.Logger
	if o.Log == nil {
		if own, err = host.NewLogger(s.log); err != nil {
			return nil, err
		}
		o.Log = own
	}
	v, err := prepare(s, args, o.Log, o.Tune)
	if err == nil {
		v.logger, v.owned = own, own != nil
		if err = v.start(); err == nil {
			return v, nil
		}
	}
	if own != nil {
		own.Close()
	}
	return nil, err
}

// prepare makes a server that does not run yet. args are what made s, for reloads; tune may be nil.
func prepare(s *settings, args []string, log engine.Log, tune func(*host.Options)) (*Server, error) {
	v := &Server{started: s, current: s, args: args, tune: tune, log: log, reloading: make(chan struct{}, 1), done: make(chan struct{})}
	v.reloading <- struct{}{}
	v.sayVersion()
	v.peers = newPeers(log)
	if err := s.tls.serve(v.peers); err != nil {
		return nil, err
	}
	o := host.Options{
		Engine: s.engine, Portable: s.portable, TLS: s.tls.live.Clients(), Log: log, Reload: v.Reload, OCSPCache: v.peers.stats,
		Opened: v.writeFiles,
	}
	if tune != nil {
		tune(&o)
		s.engine = o.Engine
	}
	o.FetchTLS, o.AccountDir = s.fetch, s.accountDir
	var err error
	v.host, err = host.New(o)
	v.peers.witness.host = v.host
	return v, err
}

// start runs the server and returns when it serves. On an error it has ended.
func (v *Server) start() error {
	v.peers.follow(v.started)
	v.unstaple = v.started.tls.keepStapled(v.host, v.log)
	v.sayIdentity()
	// Before clients may come, as the log's last word at start is that the server is ready. Whoever asks waits until it runs.
	if err := v.openPorts(); err != nil {
		v.host.Discard()
		v.finish(err)
		return err
	}
	ran := make(chan error, 1)
	go func() { ran <- v.host.Run() }()
	<-v.host.Ready()
	if v.host.Port() == 0 {
		v.finish(<-ran)
		return v.err
	}
	go func() { v.finish(<-ran) }()
	return nil
}

// openPorts opens those for profiles and monitoring, where they are wanted.
func (v *Server) openPorts() error {
	if err := v.openProfiles(); err != nil {
		return err
	}
	v.sayConfiguration()
	if err := v.openMonitoring(); err != nil {
		return err
	}
	v.sayAccountDir()
	return nil
}

// writeFiles tells others where the server is, when its port for clients is open.
func (v *Server) writeFiles(port int) error {
	f := filesOf(v.started)
	if err := f.write(v.portsText(port)); err != nil {
		return err
	}
	v.files = f
	return nil
}

// portsText is what a ports file says where the port for clients is that.
func (v *Server) portsText(port int) []byte {
	monitor, prof := 0, 0
	if v.monitor != nil {
		monitor = v.monitor.Port()
	}
	if v.profiles != nil {
		prof = v.profiles.Port()
	}
	return portsText(v.started, port, monitor, prof)
}

// finish gives back what belongs to a server that has ended.
func (v *Server) finish(err error) {
	v.unstaple()
	v.closeMonitoring()
	<-v.reloading // a reload that is under way fails, and may have to remove a file
	v.files.remove()
	v.reloading <- struct{}{}
	v.peers.Close()
	if err == nil {
		v.say(engine.LevelInfo, "Server Exiting..")
	}
	if v.owned {
		v.logger.Close()
	}
	v.err = err
	close(v.done)
}

// Addr is "host:port" of the client port. Where the server listens on all addresses, it is one that this machine reaches.
func (v *Server) Addr() string {
	return net.JoinHostPort(near(v.started.engine.Host), strconv.Itoa(v.host.Port()))
}

// URL is what clients connect to.
func (v *Server) URL() string {
	scheme := "nats"
	if v.started.engine.TLS.On {
		scheme = "tls"
	}
	return scheme + "://" + v.Addr()
}

// MonitorURL is where monitoring is; empty where there is none.
func (v *Server) MonitorURL() string {
	if v.monitor == nil {
		return ""
	}
	return v.started.monitorScheme() + "://" + net.JoinHostPort(near(v.started.monitorHost()), strconv.Itoa(v.monitor.Port()))
}

// near is an address by which this machine reaches itself.
func near(host string) string {
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		return "127.0.0.1"
	}
	return host
}

// Host is the server below, for what is not here. What the server is told by it alone, such as a reload, is not known here.
func (v *Server) Host() *host.Server { return v.host }

// LameDuck asks the server to have its clients leave, one after the other, and to end then. It returns at once.
func (v *Server) LameDuck() {
	v.leaving.Store(true)
	v.host.LameDuck()
}

// Stop ends the server and waits until it has ended. It may be called again.
func (v *Server) Stop() {
	v.host.Stop()
	<-v.done
}

// Done is closed when the server has ended.
func (v *Server) Done() <-chan struct{} { return v.done }

// Wait waits until the server has ended, and returns why, as host.Server.Run does; nil where it was told to.
func (v *Server) Wait() error {
	<-v.done
	return v.err
}
