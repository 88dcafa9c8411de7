import type { Terminal } from '../../../lib/terminal/terminal.ts';
import { wrapText } from '../../../lib/terminal/wrap.ts';
import type { DiagnosisSpec } from '../../../pipeline/api/diagnosis.ts';
import type { ProcessorHost } from '../../../pipeline/operations/processor-host.ts';
import { wordsOf } from '../../../pipeline/steps/action-text.ts';

interface Asked {
  readonly yes: boolean;
  readonly isDryRun: boolean;
  readonly recovery: DiagnosisSpec['recovery'];
  readonly stop: AbortSignal;
}

/** Asks the person at the terminal whether a step may change the node, unless --yes was given. */
export function consentOf(
  { yes, isDryRun, recovery: policy, stop }: Asked,
  terminal: Terminal,
): ProcessorHost['consent'] {
  return async ({ actions, touches, leaves, summary }) => {
    if (isDryRun) return { given: 'to-plan' };
    if (policy === 'Never') return { given: 'none', why: 'refused: spec.recovery is Never' };
    if (yes) return { given: 'to-act' };
    const why = 'refused: no terminal to ask on; repeat with --yes';
    if (!terminal.isInteractive) return { given: 'none', why };
    const lines = [
      summary,
      ...actions.map((action) => `will ${wordsOf(action).description}`),
      `touches ${touches}`,
      `leaves ${leaves}`,
    ];
    for (const line of lines.flatMap((each) => wrapText(each, terminal.errWidth))) {
      terminal.err(`${line}\n`);
    }
    const isAgreed = await terminal.confirm('Continue? [y/N] ', stop);
    return isAgreed
      ? { given: 'to-act' }
      : { given: 'none', why: 'refused: declined at the prompt' };
  };
}
