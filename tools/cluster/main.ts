import { parseArgs } from 'node:util';
import { build, down, load, runInside, status, up } from './commands.ts';
import { isName } from './known-clusters.ts';
import { CURRENT } from './kubernetes-recipes.ts';
import { NODES_MAX } from './network.ts';

const USAGE = `A real Kubernetes cluster, in namespaces of its own. See docs/cluster.md.

  npm run cluster -- up     [--name N] [--nodes N] [--kubelet VERSION|PATH[,...]]
                            [--api-server VERSION] [--assets DIR]
  npm run cluster -- run    [--name N] [--node NODE] -- COMMAND...
  npm run cluster -- load   [--name N]
  npm run cluster -- status [--name N]
  npm run cluster -- down   [--name N]
  npm run cluster -- build  [--kubelet VERSION[,...]] [--api-server VERSION] [--assets DIR]

--kubelet takes one version for all nodes, or one for each node: --kubelet v1.36.3,v1.18.8`;

const WRONG_USAGE = 64;

async function main(words: readonly string[]): Promise<number> {
  const end = words.indexOf('--');
  const [ours, command] = end < 0 ? [words, []] : [words.slice(0, end), words.slice(end + 1)];
  const { values, positionals } = parseArgs({
    args: [...ours],
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      name: { type: 'string' },
      node: { type: 'string' },
      nodes: { type: 'string' },
      kubelet: { type: 'string' },
      'api-server': { type: 'string' },
      assets: { type: 'string' },
    },
  });
  const [verb, ...rest] = positionals;
  const { help, name = 'default', assets, node, ...options } = values;
  const { 'api-server': apiServer } = options;
  if (help || verb === 'help') {
    console.log(USAGE);
    return 0;
  }
  if (!isName(name)) return wrong(`no name: ${name} (small letters, digits, "-", at most 20)`);
  for (const [option, value] of Object.entries({ assets, node, ...options })) {
    if (value === '') return wrong(`--${option} what?`);
  }
  if (rest.length > 0) return wrong(`what is meant by "${rest.join(' ')}"?`);
  if (process.getuid?.() !== 0 && verb !== 'build') return wrong('it needs root');
  const kubelets = kubeletsOf(options);
  if ('wrong' in kubelets) return wrong(kubelets.wrong);
  switch (verb) {
    case 'up':
      return up(name, { kubelets, apiServer, assets });
    case 'down':
      return down(name);
    case 'status':
      return status(values.name);
    case 'run':
      return command.length > 0 ? runInside(name, node, command) : wrong('run what? -- COMMAND');
    case 'load':
      return load(name);
    case 'build':
      return build({ kubelets, apiServer, assets });
    default:
      return wrong(verb ? `there is no "${verb}"` : 'what is to be done?');
  }
}

/** One for each node. */
function kubeletsOf(options: {
  readonly nodes?: string | undefined;
  readonly kubelet?: string | undefined;
  readonly 'api-server'?: string | undefined;
}): readonly string[] | { readonly wrong: string } {
  const { 'api-server': apiServer = CURRENT, kubelet = apiServer } = options;
  const kubelets = kubelet.split(',');
  const count = Number(options.nodes ?? kubelets.length);
  if (!Number.isInteger(count) || count < 1 || count > NODES_MAX) {
    return { wrong: `--nodes ${options.nodes}: a number from 1 to ${NODES_MAX} is expected` };
  }
  if (kubelets.length === 1) return Array.from({ length: count }, () => kubelets[0] ?? apiServer);
  if (kubelets.length === count) return kubelets;
  return { wrong: `--kubelet has ${kubelets.length} versions for ${count} nodes` };
}

function wrong(what: string): number {
  console.error(`${what}\n\n${USAGE}`);
  return WRONG_USAGE;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  // parseArgs says what it does not know; anything else is ours to look at.
  const { code, message } = error as NodeJS.ErrnoException;
  if (!code?.startsWith('ERR_PARSE_ARGS')) throw error;
  process.exitCode = wrong(message);
}
