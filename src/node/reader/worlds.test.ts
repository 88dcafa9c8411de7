import { afterAll } from 'vitest';
import { readerCommand } from '../../../test/reader-command.ts';
import { describeWorld } from './contract.ts';
import { FailingNode } from './failing-node.ts';
import { LiveNode } from './live-node.ts';
import { RecordedNode } from './recorded-node.ts';
import { RecordingNode } from './recording-node.ts';

const live = new LiveNode(readerCommand, { hostRoot: '/' });
afterAll(() => live.close());

describeWorld('live', async () => live);
describeWorld('recording', async () => new RecordingNode(live));
describeWorld('recorded', async (visit) => {
  const recorder = new RecordingNode(live);
  await visit(recorder);
  return new RecordedNode(recorder.recording);
});
describeWorld('failing', async () => new FailingNode(live, () => false));
