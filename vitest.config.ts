import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { TestOrder } from './tools/test-order.ts';

/** Modules are loaded once in a worker, not once for each file. */
const isolate = false;
/** What is waited for comes later on a busy machine. */
const expect = { poll: { timeout: 20_000 } };

export default defineConfig({
  test: {
    sequence: { sequencer: TestOrder },
    projects: [
      {
        test: {
          name: 'unit',
          isolate,
          expect,
          include: [
            'src/**/*.test.ts',
            'lab/**/*.test.ts',
            'tools/**/*.test.ts',
            'test/**/*.test.ts',
          ],
          exclude: ['kernel', 'runtime', 'trace', 'apiserver', 'cluster'].map(
            (suite) => `**/*.${suite}.test.ts`,
          ),
          // By default one processor would be left idle: two files at a time on a small machine.
          maxWorkers: Math.max(2, availableParallelism() - 1),
          // Other suites run beside it: nothing here takes long, but it may have to wait for its turn.
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        // Asks the real kernel, in private namespaces; most of the time it waits.
        test: {
          name: 'kernel',
          isolate,
          expect,
          include: ['src/**/*.kernel.test.ts', 'lab/**/*.kernel.test.ts'],
          maxWorkers: 2,
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        // The executable on practice nodes, each a world of its own; most of the time they wait.
        test: {
          name: 'journeys',
          isolate,
          expect,
          include: ['test/**/*.kernel.test.ts'],
          maxWorkers: 3,
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        // Asks a real containerd and runc.
        test: {
          name: 'runtime',
          isolate,
          expect,
          include: [
            'src/**/*.runtime.test.ts',
            'lab/**/*.runtime.test.ts',
            'test/**/*.runtime.test.ts',
          ],
          fileParallelism: false,
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        // Watches the whole machine with a real bpftrace, which takes a second or more to begin.
        test: {
          name: 'trace',
          isolate,
          expect,
          include: ['test/**/*.trace.test.ts'],
          fileParallelism: false,
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        // Asks a real API server, without a node.
        test: {
          name: 'apiserver',
          isolate,
          expect,
          include: ['test/**/*.apiserver.test.ts'],
          fileParallelism: false,
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        // Asks a real Kubernetes. A configMap reaches a pod after up to 90 s, a back-off takes longer.
        // All files run in one process, one after another, and so can share clusters (docs/cluster.md).
        test: {
          name: 'cluster',
          isolate,
          expect,
          include: ['test/**/*.cluster.test.ts'],
          globalSetup: 'test/cluster/setup.ts',
          fileParallelism: false,
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
