import { type CommandHelp, PRINTED } from './command-help.ts';

const JUDGED = {
  0: 'no fault was found',
  1: 'a fault was found',
  2: 'a fault could not be judged, and none was found',
};

/** Help of what a person runs on a node, or with evidence of one. */
export const NODE_HELP: Readonly<Record<string, CommandHelp>> = {
  check: {
    examples: [
      ['Check this node', 'kubediag check'],
      ['Check one pod, for programs', 'kubediag check --pod default/web-0 -o json'],
      ['Check every minute and show what changes', 'kubediag check --watch --every 1m'],
    ],
    exitCodes: JUDGED,
  },
  recover: {
    examples: [
      ['Ask about every fault found, one by one', 'kubediag recover'],
      [
        'Show the plan for one fault and change nothing',
        'kubediag recover stale-subpath-mount --dry-run',
      ],
      ['Repair everything found without asking', 'kubediag recover --yes --latent'],
    ],
    exitCodes: {
      0: 'nothing is left to repair',
      1: 'findings are left: latent, declined, or without an automatic repair',
      2: 'a fault is unknown, and nothing is left of the others',
      3: 'refused, failed or stopped',
    },
  },
  explain: {
    examples: [
      ['List the faults', 'kubediag explain'],
      ['Read about one fault', 'kubediag explain dead-volume-mount'],
      ['Find the faults that fit an error text', 'kubediag explain "no such file or directory"'],
    ],
    exitCodes: { 0: 'shown', 2: 'no page fits' },
  },
  journal: {
    examples: [
      ['Show what was done on this node', 'kubediag journal'],
      ['Show it with what was acted on', 'kubediag journal -o wide'],
    ],
    exitCodes: { 0: 'shown', 2: 'the journal cannot be read' },
  },
  bundle: {
    examples: [
      ['Record this node in a new file here', 'kubediag bundle'],
      ['Record it to standard output, over ssh', 'ssh node-17 kubediag bundle - > node-17.tgz'],
    ],
    exitCodes: { 0: 'recorded', 3: 'the bundle could not be written' },
  },
  replay: {
    examples: [
      ['Judge a bundle of another machine', 'kubediag replay node-17.tgz'],
      [
        'Judge it for one fault, with every detail',
        'kubediag replay node-17.tgz dead-volume-mount -o wide',
      ],
    ],
    exitCodes: JUDGED,
  },
  examine: {
    examples: [
      ['Judge a log that somebody sent', 'kubediag examine kubelet.log'],
      ['Judge a folder of files', 'kubediag examine evidence/ -o wide'],
      ['Judge what comes in', 'journalctl -u kubelet | kubediag examine -'],
    ],
    exitCodes: JUDGED,
  },
  collector: {
    examples: [
      [
        'Write the script to a file, and copy that to the node',
        'kubediag collector > collector.sh',
      ],
      ['Run it there, as root', 'sh collector.sh'],
      ['Judge what it collected', 'kubediag examine kubediag-node-17-20261115T102233Z.tgz'],
    ],
    exitCodes: PRINTED,
  },
  stacks: {
    examples: [
      ['Show what the kubelet waits for', 'kubediag stacks'],
      ['Show every stack of a goroutine dump', 'kubediag stacks --file goroutines.txt -o wide'],
    ],
    exitCodes: {
      0: 'nothing blocks the kubelet',
      1: 'something blocks the kubelet',
      2: 'it cannot be told',
    },
  },
  profile: {
    examples: [
      ['Profile the kubelet for 30 seconds', 'kubediag profile kubelet'],
      ['Write a flame graph', 'kubediag profile kubelet --seconds 60 --flame kubelet.html'],
      ['Show a profile that was saved', 'kubediag profile kubelet --file cpu.pprof'],
    ],
    exitCodes: { 0: 'profiled', 2: 'the kubelet does not answer' },
  },
  trace: {
    examples: [
      ["Watch the entries of / and of the kubelet's folder", 'kubediag trace deletions'],
      [
        'Watch one folder for ten minutes',
        'kubediag trace deletions /var/lib/kubelet/pods --seconds 600',
      ],
    ],
    exitCodes: {
      0: 'watched to the end',
      1: 'a deletion fits a known fault',
      2: 'bpftrace is missing, failed or lost events',
    },
  },
  run: {
    examples: [
      ['Run a Diagnosis on this node, without an agent', 'kubediag run -f diagnosis.yaml'],
      ['Show what it would do and change nothing', 'kubediag run -f diagnosis.yaml --dry-run'],
      ['Set a parameter of it', 'kubediag run -f manifests/ --set level=2'],
    ],
    exitCodes: { 0: 'the Diagnosis succeeded', 3: 'it failed, or was refused' },
  },
  lint: {
    examples: [
      ['Check manifests before they are applied', 'kubediag lint -f manifests/'],
      ['Check what comes in, for programs', 'cat diagnosis.yaml | kubediag lint -f - -o json'],
    ],
    exitCodes: { 0: 'nothing is wrong', 1: 'something is wrong' },
  },
  operations: {
    examples: [
      ['List the built-in Operations', 'kubediag operations'],
      ['List them for programs', 'kubediag operations -o json'],
    ],
    exitCodes: PRINTED,
  },
  version: {
    examples: [
      ['Print the version', 'kubediag version'],
      ['The same', 'kubediag --version'],
    ],
    exitCodes: PRINTED,
  },
  completion: {
    examples: [
      ['Complete in this bash', 'source <(kubediag completion bash)'],
      ['Complete in this zsh', 'source <(kubediag completion zsh)'],
      [
        'Complete in every fish',
        'kubediag completion fish > ~/.config/fish/completions/kubediag.fish',
      ],
    ],
    exitCodes: PRINTED,
  },
};
