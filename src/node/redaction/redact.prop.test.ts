import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import {
  CONFIG_KEYS,
  flagSettings,
  parseEdgecoreConfig,
  parseK3sConfig,
  parseKubeletConfig,
} from '../evidence/kubelet/kubelet-config.ts';
import { flagValue, flagValues, parseCommandLine } from '../evidence/processes/command-line.ts';
import { ReadError } from '../model/node-reader.ts';
import { redactAnswer } from './redact.ts';

const CONFIG = { path: '/proc/812/root/etc/kubelet.yaml' };

/** What a parser makes of a text, or that it makes nothing of it. */
function outcome(parse: (text: string, source: string) => unknown, text: string): unknown {
  try {
    return parse(text, 'x');
  } catch (error) {
    expect(error).toBeInstanceOf(ReadError);
    return (error as ReadError).message;
  }
}

/** What we make of the configuration of k3s: its own settings, and those for the kubelet. */
function k3sSettings(text: string, source: string): unknown {
  const words = parseK3sConfig(text, source);
  const kubeletWords = flagValues(words, 'kubelet-arg').map((argument) => `--${argument}`);
  return [flagValue(words, 'node-name'), flagSettings(kubeletWords, source)];
}

const scalar = fc.oneof(
  fc.constantFrom(
    'unix:///run/c.sock',
    '/run/c.sock',
    'tcp://h:1',
    '0.0.0.0',
    'root-dir=/d',
    'x=root-dir=/d',
    '',
  ),
  fc.string(),
  fc.integer({ min: -1, max: 70_000 }),
  fc.constantFrom(null, true, Number.NaN),
);
const key = fc.constantFrom(
  ...CONFIG_KEYS,
  'modules',
  'edged',
  'tailoredKubeletConfig',
  'tailoredKubeletFlag',
  'kubelet-arg',
  'token',
);
const { config } = fc.letrec<{ config: unknown }>((tie) => ({
  config: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('config'), { maxLength: 3 }),
    fc.dictionary(key, tie('config'), { maxKeys: 5 }),
  ),
}));

test('a configuration means the same to every parser after it was redacted', () => {
  fc.assert(
    fc.property(config, fc.boolean(), (value, asJson) => {
      const text = asJson ? JSON.stringify(value) : stringify(value);
      const safe = redactAnswer('file', CONFIG, text);
      for (const parse of [parseKubeletConfig, parseEdgecoreConfig]) {
        expect(outcome(parse, safe)).toEqual(outcome(parse, text));
      }
      expect(outcome(k3sSettings, safe)).toEqual(outcome(k3sSettings, text));
    }),
    { numRuns: 500 },
  );
});

test('a command line retains the flags that we read', () => {
  const noise = fc.constantFrom('--token=a', '--token', 'b', '--v=2', '--auth-header', '--x', '');
  const flag = fc.constantFrom('--root-dir=/d', '--port=1', '--config=/c', '--address=10.0.0.1');
  fc.assert(
    fc.property(fc.array(fc.oneof(noise, flag)), (words) => {
      const safe = redactAnswer('file', { path: '/proc/812/cmdline' }, words.join('\0'));
      for (const name of ['root-dir', 'port', 'config', 'address']) {
        expect(flagValue(parseCommandLine(safe), name)).toBe(
          flagValue(parseCommandLine(words.join('\0')), name),
        );
      }
      expect(safe).not.toContain('--token=a');
    }),
  );
});

test('nothing that a node answers can make the redaction fail', () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.json());
  fc.assert(
    fc.property(text, fc.jsonValue(), (body, message) => {
      redactAnswer('file', CONFIG, body);
      redactAnswer('file', { path: '/proc/1/cmdline' }, body);
      for (const path of ['/pods', '/metrics', '/x']) {
        const question = { scheme: 'http', address: 'a', port: 1, path } as const;
        redactAnswer('kubelet', question, { status: 200, body });
        const items = JSON.stringify({ items: [message] });
        redactAnswer('kubelet', question, { status: 200, body: items });
      }
      const question = { socket: '/s', call: 'ListContainers' } as const;
      const answer = redactAnswer('runtime', question, { criVersion: 'v1', message });
      expect(answer.criVersion).toBe('v1');
    }),
  );
});
