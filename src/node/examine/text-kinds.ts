import { LIST_COMMAND } from './listed-folders.ts';

/** Of what kind the lines of a text can be, and how it is called. */
export const TEXT_KINDS = {
  mountinfo: 'a mount table (mountinfo)',
  'plain-mounts':
    'a list of mounts (mount, findmnt, /proc/mounts): not enough, for only mountinfo shows their roots',
  log: 'a log',
  goroutines: 'a dump of goroutines',
  health: 'the answer of a health check',
  metrics: 'metrics',
  'kernel-log': 'the log of the kernel (dmesg)',
  task: 'what the kernel shows of a task (/proc)',
  listing: 'a listing of files or directories',
  trace: 'a trace of deletions (bpftrace, strace)',
  version: 'the version of a program',
  'runtime-version': 'the version of the runtime (crictl version)',
  containers: 'a table of containers (crictl ps)',
  events: 'events, or a description of a pod',
  json: 'JSON',
} as const;

/** other: of no kind that we know, and perhaps the words of a person. */
export type TextKind = keyof typeof TEXT_KINDS | 'other';

// Mar 22 17:30:28 worker-7 kubelet[4138]: , 2026-11-15T08:12:12.600+0000 worker-7 kubelet[4138]:
const PREFIX = String.raw`(?:(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\S+) \S+ [\w.@/-]+(?:\[\d+\])?: )`;

// [-]syncloop failed: sync Loop took longer than expected
const HEALTH_LINE = /^\[[+-]\][\w./-]+ (?:ok|failed|excluded)/;

/** Each pattern stands for a line of its kind; the first kind that has one takes the line. */
const LINES: readonly (readonly [TextKind, RegExp])[] = [
  // 65 44 254:0 /pods/u1/app.conf//deleted /pods/u1/subpath/0 rw,relatime shared:1 - ext4 /dev/vda rw
  ['mountinfo', /^\s*\d+ \d+ \d+:\d+ \S+ \/\S* \S+ (?:\S+ )*- \S+ \S+ \S*/],
  // goroutine 341 [select, 20 minutes]:
  ['goroutines', new RegExp(`^${PREFIX}?\\s*goroutine \\d+ (?:.*)?\\[[^\\]]+\\]:?\\s*$`)],
  // goroutine profile: total 133
  ['goroutines', /^goroutine profile: total \d+/],
  // 1 @ 0x8cfcc6 0x8cfa6d 0x8cbb55
  ['goroutines', /^\d+ @(?: 0x[0-9a-f]+)+\s*$/],
  // #	0x8cfcc6	runtime/pprof.writeRuntimeProfile+0xd6	/usr/lib/golang/src/runtime/pprof/pprof.go:540
  ['goroutines', /^#\s+(?:0x[0-9a-f]+\s+\S|labels: )/],
  // 	/go/src/k8s.io/kubernetes/pkg/kubelet/pleg/generic.go:261 +0x74e
  ['goroutines', new RegExp(`^${PREFIX}?\\s*/\\S+\\.(?:go|s):\\d+(?: \\+0x[0-9a-f]+)?\\s*$`)],
  // k8s.io/kubernetes/pkg/kubelet/pleg.(*GenericPLEG).relist(0xc42069ea20)
  ['goroutines', new RegExp(`^${PREFIX}?[\\w~-]+[./][\\w~./()*\\[\\]{}-]+\\([^)]*\\)\\s*$`)],
  // created by github.com/godbus/dbus.(*Conn).Auth
  ['goroutines', new RegExp(`^${PREFIX}?created by [\\w~-]+[./]\\S+`)],
  // bin deleted by command 'edgecore' with pid 55978
  ['trace', /deleted by command '|^Attaching \d+ probes?\b/],
  //     48a9db syscall.Syscall.abi0+27 (/usr/local/bin/edgecore)
  ['trace', /^\s+(?:0x)?[0-9a-f]{4,16} \S+\+(?:0x)?[0-9a-f]+ \(/],
  // [pid 55978] 10:12:33 unlinkat(AT_FDCWD, "bin", 0) = 0
  [
    'trace',
    /^(?:\[pid\s+\d+\] |\d+ +)?(?:[\d:.]+ )?(?:unlink|unlinkat|rmdir|rename\w*)\(.*\)\s+= /,
  ],
  // I0330 15:58:27.936114 4130850 kubelet.go:2012] SyncLoop (housekeeping)
  ['log', /(?:^|[\s"])[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{3,6}\s+\d+ [\w./-]+\.go:\d+\]/],
  // kubelet.go:1503] Failed cleaning up orphaned pod directories: lstat /var/lib/kubelet/...
  ['log', /^[\w./-]+\.go:\d+\] /],
  // {"ts":1700000000000.1,"caller":"kubelet/kubelet.go:2012","msg":"SyncLoop (housekeeping)"}
  ['log', /^\{(?=.*"(?:msg|MESSAGE|log)":)(?=.*"(?:ts|caller|__REALTIME_TIMESTAMP|stream)":)/],
  // time="2026-11-15T08:12:12.600016015Z" level=info msg="Logging will be disabled"
  ['log', /^(?:\S+ )*time="[^"]+" level=\w+ msg=/],
  // __CURSOR=s=1f2a;i=7 and MESSAGE=..., as journalctl -o export writes them
  ['log', /^(?:__CURSOR|__REALTIME_TIMESTAMP|_SYSTEMD_UNIT|SYSLOG_IDENTIFIER|MESSAGE)=/],
  // Apr 28 17:35:02 node-vdm91pii kubelet: E0428 ...
  ['log', new RegExp(`^${PREFIX}`)],
  // ok
  ['health', /^ok$/],
  // [-]syncloop failed: reason withheld
  ['health', HEALTH_LINE],
  // internal server error: sync Loop took longer than expected
  ['health', /^internal server error: sync Loop took longer/],
  // healthz check failed
  ['health', /^(?:healthz|livez|readyz) check (?:failed|passed)\s*$/],
  // # TYPE kubelet_running_pods gauge
  ['metrics', /^# (?:HELP|TYPE) [\w:]+ /],
  // kubernetes_build_info{git_version="v1.18.8"} 1
  [
    'metrics',
    /^[a-zA-Z]\w*_\w+(?:\{.*\})? (?:[-+]?[\d.]+(?:e[-+]?\d+)?|NaN|[-+]?Inf)(?: \d+)?\s*$/,
  ],
  // [11859608.510084] nfs: server 10.36.3.5 not responding, still trying
  [
    'kernel-log',
    /^(?:<\d+>)?\[(?:\s*\d+\.\d{6}|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]+ \d{4})\] /,
  ],
  // State:	D (disk sleep)
  ['task', /^(?:State|wchan|syscall|Pid|Tgid|PPid|Threads):?\s/],
  // --- /proc/812/task/840
  ['task', /^--- \/proc\/\d+\/task\/\d+$/],
  // [<0>] request_wait_answer+0x112/0x210
  ['task', /^\[<[0-9a-f]+>\] [\w.]+/],
  // tmpfs on /run type tmpfs (rw,nosuid)
  ['plain-mounts', /^\S+ on \/.* type \S+ \(.*\)\s*$/],
  // /dev/vda1 / ext4 rw,relatime 0 0
  ['plain-mounts', /^\S+ \/\S* \w[\w.]* \S+ \d \d\s*$/],
  // TARGET SOURCE FSTYPE OPTIONS
  [
    'plain-mounts',
    /^TARGET\s+SOURCE\s|^[\u2500\u2502\u251c\u2514|`\s-]*\/\S*\s+\S+\s+\w[\w.]*\s+r[wo][,\s]/,
  ],
  // CONTAINER           IMAGE               CREATED             STATE               NAME
  ['containers', /^CONTAINER(?: ID)?\s+IMAGE\s+CREATED\s+STATE\s|^POD ID\s+CREATED\s+STATE\s/],
  // 8b2f1c9d0e7aa  3f2a  2 hours ago  Exited  mqtt  0  77c1de20be16d
  ['containers', /^[0-9a-f]{12,64}\s+.*\s(?:Running|Exited|Created|Unknown|Ready|NotReady)\s+\S+/],
  // Kubernetes v1.18.8
  ['version', /^\s*(?:Kubernetes|KubeEdge|k3s version|rke2 version) v?\d+\.\d+\.\d+/],
  // worker-7   Ready    <none>   3d   v1.18.8
  ['version', /^\S+\s+(?:Not)?Ready\S*\s+\S+\s+\S+\s+v\d+\.\d+\.\d+/],
  // RuntimeName:  containerd
  ['runtime-version', /^Runtime(?:Name|Version|ApiVersion):\s/],
  //   Warning  Failed   5s                kubelet, worker-7  Error: failed to start container
  ['events', /^\s*(?:\S+\s+(?:\S+\s+)?)?(?:Normal|Warning)\s+[A-Z][A-Za-z]+\s/],
  // LAST SEEN   TYPE      REASON   OBJECT   MESSAGE
  ['events', /^LAST SEEN\s|^Events:|^\s+Type\s+Reason\s+Age\s/],
  // # ls -la /var/lib/kubelet/pods/612f2e76-.../volumes/transwarp.io~tosdisk
  ['listing', LIST_COMMAND],
  // ls: cannot access '/bin': No such file or directory
  ['listing', /^ls: (?:cannot access )?'?\/\S*'?: /],
  // drwxr-x--- 2 root root 4096 Jun  2 06:01 pvc-1.deleting~859156558
  ['listing', /^\s*(?:\d+\s+(?:\d+\s+)?)?[dlbcps-][rwxsStT-]{9}[.+@]?\s+\d+\s/],
  // /var/lib/kubelet/pods/612f2e76-.../volumes/transwarp.io~tosdisk/pvc-f39e.deleting~859156558
  ['listing', /^(?:\.?\/[^\s:]*):?(?: -> \S+)?\s*$/],
  // 4.0K	/var/lib/kubelet/pods/612f2e76-.../volumes/transwarp.io~tosdisk/pvc-1
  ['listing', /^\s*\d[\d.]*[KMGTP]?\s+\/\S+\s*$/],
  //     ├── pvc-f39e86b9-019b-11e8.deleting~859156558
  ['listing', /^[\s\u2500\u2502\u251c\u2514|`-]+\S+\.deleting~\d+\/?\s*$/],
  // pvc-f39e86b9-019b-11e8.deleting~859156558
  ['listing', /^total \d+\s*$|^\S+\.deleting~\d+\/?\s*$/],
];

/** Lines that cannot be of any other kind, of the kinds that come in thousands. */
const PLAIN: Partial<Readonly<Record<TextKind, RegExp>>> = {
  // I0330 15:58:27.936114 4130850 kubelet.go:2012] SyncLoop (housekeeping)
  log: /^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{3,6}\s+\d+ [\w./-]+\.go:\d+\]/,
  // 	/go/src/k8s.io/kubernetes/pkg/kubelet/pleg/generic.go:261 +0x74e
  goroutines: /^\t\/\S+\.(?:go|s):\d+/,
};

/** The kinds of the lines of a text, each with those lines alone: the rest of it is blank there. */
export type KindsOfText = ReadonlyMap<TextKind, string>;

/**
 * Recognises a text, line by line. A line of no kind belongs to nothing, unless it continues a
 * line of a log or a description above it. Line numbers stay those of the file.
 */
export function textKinds(text: string): KindsOfText {
  const spans = new Map<TextKind, Span[]>();
  let line = 0;
  let last: TextKind | undefined;
  for (let start = 0; start < text.length; line += 1) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    const kind = kindOfLine(text.slice(start, Math.min(end, start + LINE_SEEN_MAX)), last);
    last = kind;
    if (kind) addLine(spans, kind, { line, start, end });
    else if (end > start) addLine(spans, 'other', { line, start, end });
    start = end + 1;
  }
  return new Map([...spans].map(([kind, found]) => [kind, blankBut(text, found)]));
}

/** What a line is shows at its beginning; the rest of a long one would only cost time. */
const LINE_SEEN_MAX = 4_000;

interface Span {
  /** The first line, from 0. */
  readonly line: number;
  readonly start: number;
  end: number;
}

function kindOfLine(line: string, last: TextKind | undefined): TextKind | undefined {
  if (line.trim() === '') return undefined;
  // Most lines are like the line above, and then one pattern is enough.
  if (last && PLAIN[last]?.test(line)) return last;
  // A kubelet that was asked for its health logs its answer, in lines without a time.
  if (last === 'log' && HEALTH_LINE.test(line)) return last;
  const found = LINES.find(([, pattern]) => pattern.test(line));
  return found?.[0] ?? (last && continues(last, line) ? last : undefined);
}

/** Whether a line without a mark of its own goes on with what stood above it. */
function continues(last: TextKind, line: string): boolean {
  if (last === 'log' || last === 'events' || last === 'trace') return /^\s/.test(line);
  // A call of any name: panic(0x3f2a, ...), main.main.
  if (last === 'goroutines') return !line.startsWith('```');
  // "." and names below the heading of a listing.
  return last === 'listing' && /^\S+$/.test(line) && !line.startsWith('```');
}

function addLine(spans: Map<TextKind, Span[]>, kind: TextKind, span: Span): void {
  const list = spans.get(kind);
  if (!list) spans.set(kind, [span]);
  else if (list.at(-1)?.end === span.start - 1) (list.at(-1) as Span).end = span.end;
  else list.push(span);
}

/** The spans at their places, with an empty line for each line between them. */
function blankBut(text: string, spans: readonly Span[]): string {
  const parts: string[] = [];
  let line = 0;
  for (const span of spans) {
    const lines = text.slice(span.start, span.end);
    parts.push('\n'.repeat(span.line - line), lines, '\n');
    line = span.line + linesIn(lines) + 1;
  }
  return parts.join('');
}

function linesIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
