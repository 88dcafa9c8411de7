import type { Evidence } from '../model/evidence.ts';

/** Evidence that was not given, or not all of it, and what would collect it. */
export interface Missing {
  /** The id of the evidence, and what it lacks where a part of it is there. */
  readonly short: string;
  readonly what: string;
  readonly command: string;
}

const PID = '$(pidof kubelet)';
const PROXY = 'kubectl get --raw /api/v1/nodes/NODE/proxy';

/** By the id of the evidence. What no single command shows, `kubediag bundle` collects. */
const COMMANDS: Readonly<Record<string, string>> = {
  'kubelet-version': 'kubelet --version',
  'mount-table': `cat /proc/${PID}/mountinfo`,
  pods: 'kubectl get pods -A -o json --field-selector spec.nodeName=NODE',
  runtime: 'crictl version',
  containers: 'crictl ps -a -o json; crictl pods -o json',
  'container-statuses': 'crictl inspect $(crictl ps -a -q)',
  'unlogged-containers': 'crictl inspect $(crictl ps -a -q)',
  'kubelet-log': 'journalctl -u kubelet --no-pager',
  goroutines: `${PROXY}/debug/pprof/goroutine?debug=2`,
  'sync-loop-dump': `${PROXY}/debug/pprof/goroutine?debug=2`,
  'teardown-log': 'journalctl -u kubelet --no-pager',
  health: `${PROXY}/healthz`,
  'volume-metrics': `${PROXY}/metrics`,
  'leftover-folders': 'ls -f /var/lib/kubelet/pods/*/volumes/*',
  'working-folder': `ls -lU /proc/${PID}/cwd/`,
  'merged-usr': 'ls -ld /bin /sbin /lib /usr/bin',
};

/** For what only a program can see that survives a path that hangs. */
const OUR_CHECK = 'kubediag check';

export function missingOf({ id, title }: Evidence<unknown>, gap?: string): Missing {
  return {
    short: gap === undefined ? id : `${id} (${gap})`,
    what: gap === undefined ? title : `${title}: ${gap}`,
    command: COMMANDS[id] ?? OUR_CHECK,
  };
}
