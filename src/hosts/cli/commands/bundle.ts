import { resolve } from 'node:path';
import { EXIT, type Terminal } from '../../../lib/terminal/terminal.ts';
import { explanationText } from '../../../lib/terminal/wrap.ts';
import { type CheckResult, runCheck } from '../../../node/checkup/run-check.ts';
import { faults } from '../../../node/faults/index.ts';
import { bundleOf, writeBundle } from '../../local-node/save-bundle.ts';
import type { NodeOptions } from '../command-line/options.ts';
import { checkOutputs, isStandardOutput, writeGiven } from '../input/given-file.ts';
import { checkRunOf, openNode, reportAbandoned } from '../input/open-node.ts';

const ELSEWHERE = 'write it to another place: kubediag bundle FILE';

export async function bundle(
  [file]: readonly string[],
  options: NodeOptions,
  terminal: Terminal,
): Promise<number> {
  checkOutputs(file);
  const asked = checkRunOf(faults, options);
  const node = openNode(options);
  const checked = await runCheck(node, asked, terminal);
  node.close();
  const code = await save(checked, file, terminal);
  await reportAbandoned(node, terminal);
  return code;
}

async function save(
  checked: CheckResult,
  file: string | undefined,
  terminal: Terminal,
): Promise<number> {
  const { name, time } = checked.report.node;
  const stamp = time.replace(/[-:]|\.\d+Z$/g, '');
  const safeName = name.replace(/[^\w.-]/g, '_');
  const path = file ?? `kubediag-${safeName}-${stamp}.tgz`;
  const isOut = isStandardOutput(path);
  const saved = await (isOut
    ? writeBundle(bundleOf(checked), path, (_, bytes) => writeGiven(path, bytes, terminal))
    : writeBundle(bundleOf(checked), resolve(path), undefined, ELSEWHERE));
  if ('failure' in saved) {
    const what = 'cannot write the bundle';
    const { failure: why, todo } = saved;
    terminal.err(explanationText({ what, why, todo }, terminal.errWidth));
    return EXIT.notDone;
  }
  if (!isOut) terminal.out(`${saved.path}\n`);
  terminal.hint(
    'The bundle holds no secrets, but names of pods, volumes and paths: check it before you share it.\n',
  );
  return EXIT.clear;
}
