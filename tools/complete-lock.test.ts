import { expect, test } from 'vitest';
import { missingPlatforms } from './complete-lock.ts';

const tool = {
  version: '1.0.0',
  dev: true,
  optionalDependencies: { '@tool/cli-linux-x64': '1.0.0', '@tool/cli-linux-arm64-musl': '1.0.0' },
};
const linux = { version: '1.0.0', optional: true };

test('a platform that the mirror lacks is added beside its owner', () => {
  const packages = { '': {}, 'node_modules/tool': tool, 'node_modules/@tool/cli-linux-x64': linux };
  expect(missingPlatforms({ packages })).toEqual({
    'node_modules/@tool/cli-linux-arm64-musl': {
      version: '1.0.0',
      dev: true,
      optional: true,
      cpu: ['arm64'],
      os: ['linux'],
      libc: ['musl'],
    },
  });
});

test('a nested owner finds its platforms in the directories above', () => {
  const packages = {
    'node_modules/a/node_modules/tool': tool,
    'node_modules/a/node_modules/@tool/cli-linux-x64': linux,
    'node_modules/@tool/cli-linux-arm64-musl': linux,
  };
  expect(missingPlatforms({ packages })).toEqual({});
});

test('a package that names no platform is not guessed', () => {
  const packages = { 'node_modules/a': { optionalDependencies: { extra: '1.0.0' } } };
  expect(() => missingPlatforms({ packages })).toThrow('extra');
});
