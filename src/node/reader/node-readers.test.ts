import { afterAll } from 'vitest';
import { FailingNode } from '../../../test/failing-node.ts';
import { readerCommand } from '../../../test/reader-command.ts';
import { RecordedNode, RecordingNode } from '../recording/recorded-node.ts';
import { describeNodeReader } from './contract.ts';
import { LiveNode } from './live-node.ts';

const live = new LiveNode(readerCommand, { hostRoot: '/' });
afterAll(() => live.close());

describeNodeReader('live', async () => live);
describeNodeReader('recording', async () => new RecordingNode(live));
describeNodeReader('recorded', async (visit) => {
  const recorder = new RecordingNode(live);
  await visit(recorder);
  return new RecordedNode(recorder.recording);
});
describeNodeReader('failing', async () => new FailingNode(live, () => false));
