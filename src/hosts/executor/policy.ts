import * as z from 'zod';
import { textIfThere, tried } from '../../lib/state/state-folder.ts';
import { yamlValue } from '../../node/evidence/text/yaml-value.ts';
import type { ActionKind } from '../../node/model/action.ts';
import { ALL_ACTIONS } from '../../node/repair/open-repair.ts';
import {
  ACTIONS_PER_HOUR_DEFAULT,
  ACTIONS_PER_HOUR_MAX,
  POLICY_BYTES_MAX,
  POLICY_SERVERS_MAX,
} from './limits.ts';

/** What an executor may do on its node, whatever the agent says. */
export interface Policy {
  readonly actions: ReadonlySet<ActionKind>;
  readonly actionsPerHour: number;
  /** Scripts and functions of Operations. */
  readonly scripts: boolean;
  /** Built-in steps that capture traffic or send a signal. */
  readonly profilers: boolean;
  /** Origins of the servers that built-in steps may ask: "https://logs.example:9200". */
  readonly servers: ReadonlySet<string>;
  /** Why the file cannot be used; then nothing of all this is permitted. */
  readonly problem?: string;
}

const KINDS = [...ALL_ACTIONS] as [ActionKind, ...ActionKind[]];

const server = z.string().refine((text) => URL.parse(text)?.origin === text, {
  error: 'not an origin such as "https://logs.example:9200"',
});

const permission = z.enum(['Allow', 'Deny']).default('Deny');

const policyFile = z.strictObject({
  actions: z.union([z.enum(['All', 'None']), z.array(z.enum(KINDS))]).default('None'),
  actionsPerHour: z.int().min(0).max(ACTIONS_PER_HOUR_MAX).default(ACTIONS_PER_HOUR_DEFAULT),
  scripts: permission,
  profilers: permission,
  servers: z.array(server).max(POLICY_SERVERS_MAX).default([]),
});

/**
 * The policy in a file, read again for each request: a ConfigMap changes without a restart. `onChange`
 * is called with the first policy, and when it is another one.
 */
export function policyFrom(
  path: string,
  onChange: (policy: Policy) => void,
): () => Promise<Policy> {
  let last: { readonly text: string; readonly policy: Policy } | undefined;
  return async () => {
    const read = await tried((async () => textIfThere(path, POLICY_BYTES_MAX))());
    const text = read.ok ? read.value : undefined;
    const seen = read.ok ? `read ${text}` : `failed ${read.why}`;
    if (last?.text === seen) return last.policy;
    const policy = read.ok ? policyIn(path, text) : withoutPolicy(path, read.why);
    last = { text: seen, policy };
    onChange(policy);
    return policy;
  };
}

function policyIn(path: string, text: string | undefined): Policy {
  if (text === undefined) return withoutPolicy(path, 'no such file');
  const yaml = yamlValue(text, POLICY_BYTES_MAX);
  if (!yaml) return withoutPolicy(path, 'not one valid YAML document');
  const read = policyFile.safeParse(yaml.value);
  if (!read.success) return withoutPolicy(path, problemText(read.error));
  const { actions, scripts, profilers, servers, actionsPerHour } = read.data;
  const permitted = { All: ALL_ACTIONS, None: new Set<ActionKind>() };
  return {
    actions: typeof actions === 'string' ? permitted[actions] : new Set(actions),
    actionsPerHour,
    scripts: scripts === 'Allow',
    profilers: profilers === 'Allow',
    servers: new Set(servers),
  };
}

function problemText({ issues }: z.ZodError): string {
  const [issue] = issues;
  if (!issue) return 'invalid';
  const where = issue.path.join('.');
  if (issue.path[0] === 'actions') {
    return `${where}: use All, None, or a list of ${KINDS.join(', ')}`;
  }
  if (issue.code === 'unrecognized_keys') {
    const known = Object.keys(policyFile.shape).join(', ');
    return `unknown field ${issue.keys.join(', ')}; there are ${known}`;
  }
  return where === '' ? `not a map of fields: ${issue.message}` : `${where}: ${issue.message}`;
}

function withoutPolicy(path: string, why: string): Policy {
  return {
    actions: new Set(),
    actionsPerHour: 0,
    scripts: false,
    profilers: false,
    servers: new Set(),
    problem: `policy file ${path}: ${why}; until it is corrected, no repair and no program is permitted`,
  };
}

/** "policy: actions unmount, set-aside, at most 20 an hour; ...", for the log. */
export function policyText({ actions, actionsPerHour, problem, ...policy }: Policy): string {
  if (problem !== undefined) return problem;
  const all = actions.size === ALL_ACTIONS.size ? 'all' : [...actions].join(', ');
  const repairs = actions.size === 0 ? 'none' : `${all}, at most ${actionsPerHour} per hour`;
  const word = (isPermitted: boolean) => (isPermitted ? 'allowed' : 'denied');
  const servers = policy.servers.size === 0 ? 'none' : [...policy.servers].join(', ');
  return (
    `policy: actions: ${repairs}; scripts and functions: ${word(policy.scripts)}; ` +
    `profilers: ${word(policy.profilers)}; servers: ${servers}`
  );
}
