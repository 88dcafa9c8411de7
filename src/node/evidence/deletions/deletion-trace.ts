import { DELETIONS_MAX, STACK_FRAMES_MAX } from '../limits.ts';
import { type Deletion, straceCallIn, straceFrameIn } from './strace-line.ts';

export interface TracedDeletion extends Deletion {
  /** Functions of the caller, innermost first: "os.Remove". Empty if the trace has none. */
  readonly stack: readonly string[];
  /** The line in the text, counted from 1. */
  readonly line: number;
  readonly text: string;
}

export interface DeletionTrace {
  readonly tool: 'bpftrace' | 'strace';
  readonly deletions: readonly TracedDeletion[];
  /** There were more deletions, or longer stacks, than the limits. */
  readonly isCut: boolean;
}

/** A deletion while the lines below it are parsed. */
type Draft = TracedDeletion & { result?: string | undefined; stack: string[] };

/**
 * The output of bpftrace or strace about deletions; undefined for any other text. A stack counts
 * only below the line of a deletion.
 */
export function readDeletionTrace(text: string): DeletionTrace | undefined {
  const found: Draft[] = [];
  const unfinished = new Map<string, Draft>();
  let tool: DeletionTrace['tool'] | undefined;
  let isCut = false;
  let latest: Draft | undefined;
  let lineNumber = 0;
  for (const line of text.split('\n')) {
    lineNumber += 1;
    const frame = frameIn(line);
    if (frame !== undefined) {
      isCut ||= latest !== undefined && latest.stack.length >= STACK_FRAMES_MAX;
      if (latest && latest.stack.length < STACK_FRAMES_MAX) latest.stack.push(frame);
      continue;
    }
    if (line.trim() === '') continue;
    const seen = straceCallIn(line);
    if (seen?.resumes) {
      const begun = unfinished.get(seen.resumes);
      unfinished.delete(seen.resumes);
      if (begun) begun.result = seen.deletion.result;
      latest = begun;
      continue;
    }
    const reported = seen?.deletion ?? (tool === 'strace' ? undefined : bpftraceHeadIn(line));
    latest = undefined;
    if (!reported) continue;
    if (found.length >= DELETIONS_MAX) {
      isCut = true;
      continue;
    }
    if (seen) tool = 'strace';
    tool ??= 'bpftrace';
    latest = { ...reported, stack: [], line: lineNumber, text: line.trim() };
    found.push(latest);
    if (seen?.unfinishedAs) unfinished.set(seen.unfinishedAs, latest);
  }
  // Many logs mention a rename. Without a stack below it, only a line of strace counts.
  const deletions = tool === 'strace' ? found : found.filter(({ stack }) => stack.length > 0);
  return tool && deletions.length > 0 ? { tool, deletions, isCut } : undefined;
}

/** A relative name starts at the caller's working directory. */
export function isRelative(name: string | undefined): boolean {
  return name !== undefined && name !== '' && !name.startsWith('/');
}

/**
 * The kubelet removes the log of a container. With a relative name this is the fault
 * container-without-log-path; with an absolute name it is normal.
 */
export function removesContainerLog(stack: readonly string[]): boolean {
  const clean = stack.findIndex((name) => LOG_CLEAN.test(name));
  const remove = stack.findIndex((name) => REMOVE.test(name));
  return clean >= 0 && remove >= 0 && remove < clean;
}

// k8s.io/kubernetes/pkg/kubelet/logs.(*containerLogManager).Clean
const LOG_CLEAN = /(^|\/)logs\.\(\*containerLogManager\)\.Clean$/;

// os.Remove
// k8s.io/kubernetes/pkg/kubelet/container.(*RealOS).Remove
const REMOVE = /(^os\.Remove|\(\*?RealOS\)\.Remove)$/;

/** A function of a caller's stack, without its offset; undefined for any other line. */
function frameIn(line: string): string | undefined {
  const bpftrace = ADDRESSED_FRAME.exec(line) ?? BARE_FRAME.exec(line);
  return bpftrace?.[1] ?? straceFrameIn(line);
}

//     4b8445 os.Remove+69 (/usr/local/bin/edgecore)
//     40d00e 0x40d00e ([unknown])
const ADDRESSED_FRAME = /^\s+[0-9a-f]{4,16} (\S.*?)(?:\+\d+)? \([^()]*\)\s*$/;

//         k8s.io/kubernetes/pkg/kubelet/container.(*RealOS).Remove+55
const BARE_FRAME = /^\s+(\S+)\+\d+\s*$/;

/** The line that a bpftrace program printed above a stack. The format depends on the author. */
function bpftraceHeadIn(line: string): Deletion | undefined {
  if (/^\s/.test(line)) return undefined;
  const sentence = DELETED_BY.exec(line);
  if (sentence) {
    const [, name, process, pid] = sentence;
    return { name, process, pid: Number(pid) };
  }
  const descriptor = DESCRIPTOR.exec(line);
  if (descriptor) return { name: descriptor[1], ...wordsOf(line), call: callNamedIn(line) };
  const args = wordsOf(line);
  const call = callNamedIn(line);
  if (args.name === undefined && call === undefined) return undefined;
  // Half of these programs print "pid comm path" after the name of the call.
  const last = /\s(\S+)\s*$/.exec(line)?.[1];
  const name = args.name ?? (call === last ? undefined : last);
  return name === undefined ? undefined : { ...args, name, call };
}

// bin deleted by command 'edgecore' with pid 55978
const DELETED_BY = /^(\S.*?) (?:was )?deleted by (?:command )?'?(.+?)'? with pid (\d+)\s*$/;

// kubelet 31022 dfd=-100 bin
const DESCRIPTOR = /\bdfd=-?\d+ (\S.*?)\s*$/;

// pid=55978 comm=edgecore path=bin
const PAIR = /\b(pid|comm|command|process|path|name|file|filename|pathname)[=:]\s*"?([^\s",]+)/g;

function wordsOf(line: string): Deletion {
  const words: { pid?: number; process?: string; name?: string } = {};
  for (const [, key = '', value = ''] of line.matchAll(PAIR)) {
    if (key === 'pid') words.pid = Number(value);
    else if (/^(comm|command|process)$/.test(key)) words.process = value;
    else words.name ??= value;
  }
  return words;
}

// sys_enter_unlinkat 31022 kubelet bin
const CALL_NAME = /(?<![a-z])(unlinkat|unlink|rmdir|renameat2|renameat|rename)(?![a-z(])/;

function callNamedIn(line: string): string | undefined {
  return CALL_NAME.exec(line)?.[1];
}
