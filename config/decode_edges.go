package config

import (
	"math"
	"strings"
	"time"

	"github.com/natsd/natsd/conf"
	"github.com/natsd/natsd/conf/schema"
)

func webSocketKeys() keys[WebSocket] {
	type w = WebSocket
	return keys[w]{
		schema.On("host", schema.Text(func(w *w) *string { return &w.Host }), "net"),
		schema.On("port", schema.Int(func(w *w) *int { return &w.Port }, -1, portMax)),
		schema.On("listen", listen(func(w *w) (*string, *int) { return &w.Host, &w.Port })),
		schema.On("advertise", schema.Text(func(w *w) *string { return &w.Advertise })),
		schema.On("no_auth_user", schema.Text(func(w *w) *string { return &w.NoAuthUser })),
		schema.On("authorization", authorization(func(w *w) **Authorization { return &w.Authorization }, "websocket.authorization", edgeAuthKeys), "authentication"),
		schema.On("tls", tlsBlock(func(w *w) **TLS { return &w.TLS })),
		schema.On("no_tls", schema.Switch(func(w *w) *bool { return &w.NoTLS })),
		schema.On("same_origin", schema.Switch(func(w *w) *bool { return &w.SameOrigin })),
		schema.On("allowed_origins", schema.List(func(w *w) *[]string { return &w.AllowedOrigins }),
			"allowed_origin", "allow_origins", "allow_origin", "origins", "origin"),
		schema.On("compression", schema.Switch(func(w *w) *bool { return &w.Compression }), "compress"),
		schema.On("handshake_timeout", func(d *schema.Decoder, v *conf.Value, w *w) {
			if v.Kind == conf.Float {
				d.Wrong(v, `a whole number of seconds, or a duration such as "10s"`)
				return
			}
			schema.Seconds(func(w *WebSocket) *time.Duration { return &w.HandshakeTimeout })(d, v, w)
		}),
		schema.On("ping_interval", schema.Duration(func(w *w) *time.Duration { return &w.PingInterval })),
		schema.On("jwt_cookie", schema.Text(func(w *w) *string { return &w.JWTCookie })),
		schema.On("user_cookie", schema.Text(func(w *w) *string { return &w.UserCookie })),
		schema.On("pass_cookie", schema.Text(func(w *w) *string { return &w.PassCookie })),
		schema.On("token_cookie", schema.Text(func(w *w) *string { return &w.TokenCookie })),
		schema.On("headers", pairs(func(w *w) *[]Pair { return &w.Headers })),
	}
}

func mqttKeys() keys[MQTT] {
	type m = MQTT
	return keys[m]{
		schema.On("host", schema.Text(func(m *m) *string { return &m.Host }), "net"),
		schema.On("port", schema.Int(func(m *m) *int { return &m.Port }, -1, portMax)),
		schema.On("listen", listen(func(m *m) (*string, *int) { return &m.Host, &m.Port })),
		schema.On("no_auth_user", schema.Text(func(m *m) *string { return &m.NoAuthUser })),
		schema.On("authorization", authorization(func(m *m) **Authorization { return &m.Authorization }, "mqtt.authorization", edgeAuthKeys), "authentication"),
		schema.On("tls", tlsBlock(func(m *m) **TLS { return &m.TLS })),
		schema.On("ack_wait", schema.Duration(func(m *m) *time.Duration { return &m.AckWait }), "ackwait"),
		schema.On("max_ack_pending", schema.Int(func(m *m) *int { return &m.MaxAckPending }, 0, math.MaxUint16), "max_pending", "max_inflight"),
		schema.On("js_domain", schema.Text(func(m *m) *string { return &m.JSDomain })),
		schema.On("js_api_timeout", schema.Duration(func(m *m) *time.Duration { return &m.JSAPITimeout }), "api_timeout"),
		schema.On("stream_replicas", count(func(m *m) *int { return &m.StreamReplicas })),
		schema.On("consumer_replicas", func(d *schema.Decoder, v *conf.Value, _ *m) {
			d.Report.Doubtf(v, "consumer_replicas has no effect: consumers have the replicas of their stream")
		}),
		schema.On("consumer_memory_storage", schema.Switch(func(m *m) *bool { return &m.ConsumerMemoryStorage })),
		schema.On("consumer_inactive_threshold", schema.Duration(func(m *m) *time.Duration { return &m.ConsumerInactiveThreshold }), "consumer_auto_cleanup"),
		schema.On("reject_qos2_publish", schema.Switch(func(m *m) *bool { return &m.RejectQoS2Publish })),
		schema.On("downgrade_qos2_subscribe", schema.Switch(func(m *m) *bool { return &m.DowngradeQoS2Subscribe })),
	}
}

// jetStream reads the block, or whether it is on.
func jetStream(d *schema.Decoder, v *conf.Value, c *Config) {
	if v.Kind != conf.Block {
		if on, ok := enabled(d, v); ok {
			c.jetStream(v.Pos).Enabled = on
		}
		return
	}
	j := c.jetStream(v.Pos)
	j.Enabled = true
	schema.Read(d, v.Block, "jetstream", jetStreamKeys(), j)
}

func jetStreamKeys() keys[JetStream] {
	type j = JetStream
	return keys[j]{
		schema.On("enabled", schema.Switch(func(j *j) *bool { return &j.Enabled }), "enable"),
		schema.On("store_dir", schema.Text(func(j *j) *string { return &j.StoreDir }), "storedir", "store"),
		schema.On("max_memory_store", schema.Size(func(j *j) *int64 { return &j.MaxMemory }, true), "max_mem_store", "max_mem"),
		schema.On("max_file_store", schema.Size(func(j *j) *int64 { return &j.MaxStore }, true), "max_file"),
		schema.On("domain", schema.Text(func(j *j) *string { return &j.Domain })),
		schema.On("key", schema.Text(func(j *j) *string { return &j.Key }), "ek", "encryption_key"),
		schema.On("prev_key", schema.Text(func(j *j) *string { return &j.PrevKey }), "prev_ek", "prev_encryption_key"),
		schema.On("cipher", cipher(func(j *j) *string { return &j.Cipher })),
		schema.On("extension_hint", schema.Text(func(j *j) *string { return &j.ExtensionHint })),
		schema.On("unique_tag", schema.Text(func(j *j) *string { return &j.UniqueTag })),
		schema.On("sync_interval", func(d *schema.Decoder, v *conf.Value, j *j) {
			if v.Kind == conf.String && strings.EqualFold(v.Text, "always") {
				j.SyncAlways = true
				return
			}
			schema.Duration(func(j *JetStream) *time.Duration { return &j.Sync })(d, v, j)
		}, "sync"),
		schema.On("strict", func(d *schema.Decoder, v *conf.Value, j *j) {
			on := false
			schema.Switch(func(*JetStream) *bool { return &on })(d, v, j)
			j.Strict = &on
		}),
		schema.On("max_outstanding_catchup", schema.Size(func(j *j) *int64 { return &j.MaxCatchup }, true)),
		schema.On("max_buffered_size", schema.Size(func(j *j) *int64 { return &j.MaxBufferedSize }, true)),
		schema.On("max_buffered_msgs", count(func(j *j) *int { return &j.MaxBufferedMsgs })),
		schema.On("request_queue_limit", count(func(j *j) *int { return &j.RequestQueue })),
		schema.On("info_queue_limit", count(func(j *j) *int { return &j.InfoQueue })),
		schema.On("meta_compact", schema.Int(func(j *j) *int { return &j.MetaCompact }, 0, sizeMax)),
		schema.On("meta_compact_size", func(d *schema.Decoder, v *conf.Value, j *j) {
			schema.Size(func(j *JetStream) *int64 { return &j.MetaCompactSize }, true)(d, v, j)
			if j.MetaCompactSize < 0 {
				d.Report.ValueErrorf(v, "meta_compact_size is 0 at least")
			}
		}),
		schema.On("meta_compact_sync", schema.Switch(func(j *j) *bool { return &j.MetaCompactSync })),
		schema.On("max_concurrent_io", schema.Int(func(j *j) *int { return &j.MaxConcurrentIO }, 4, 8192)),
		schema.On("limits", schema.Block(func(j *j) *JetStreamLimits { return &j.Limits }, "jetstream.limits", jetStreamLimitKeys)),
		schema.On("tpm", block(func(j *j) **TPM { return &j.TPM }, "tpm", tpmKeys, func(t *TPM) *Pos { return &t.Pos })),
	}
}

func cipher[T any](field func(*T) *string) schema.Reader[T] {
	return func(d *schema.Decoder, v *conf.Value, to *T) {
		switch s := strings.ToLower(v.Text); {
		case v.Kind == conf.String && s == "aes":
			*field(to) = "aes"
		case v.Kind == conf.String && (s == "chacha" || s == "chachapoly"):
			*field(to) = "chacha"
		default:
			d.Wrong(v, "aes or chacha")
		}
	}
}

func jetStreamLimitKeys() keys[JetStreamLimits] {
	type l = JetStreamLimits
	return keys[l]{
		schema.On("max_ack_pending", count(func(l *l) *int { return &l.MaxAckPending })),
		schema.On("max_ha_assets", count(func(l *l) *int { return &l.MaxHAAssets })),
		schema.On("max_request_batch", count(func(l *l) *int { return &l.MaxRequestBatch })),
		schema.On("default_max_consumers", count(func(l *l) *int { return &l.DefaultMaxConsumers })),
		schema.On("duplicate_window", schema.Unit(func(l *l) *time.Duration { return &l.DuplicateWindow })),
		schema.On("batch", schema.Block(func(l *l) *l { return l }, "jetstream.limits.batch", func() keys[l] {
			return keys[l]{
				schema.On("max_msgs", count(func(l *l) *int { return &l.BatchMaxMsgs })),
				schema.On("timeout", schema.Unit(func(l *l) *time.Duration { return &l.BatchTimeout })),
				schema.On("max_inflight_per_stream", count(func(l *l) *int { return &l.BatchInflightStream })),
				schema.On("max_inflight_total", count(func(l *l) *int { return &l.BatchInflightTotal })),
			}
		})),
	}
}

func tpmKeys() keys[TPM] {
	type t = TPM
	return keys[t]{
		schema.On("keys_file", schema.Text(func(t *t) *string { return &t.KeysFile })),
		schema.On("encryption_password", schema.Text(func(t *t) *string { return &t.Password })),
		schema.On("srk_password", schema.Text(func(t *t) *string { return &t.SRKPassword })),
		schema.On("pcr", count(func(t *t) *int { return &t.PCR })),
		schema.On("cipher", cipher(func(t *t) *string { return &t.Cipher })),
	}
}
