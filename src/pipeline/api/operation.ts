import * as z from 'zod';
import { count, flag, port, text } from './fields.ts';
import {
  ARGUMENTS_MAX,
  CA_BUNDLE_CHARACTERS_MAX,
  CODE_FILES_MAX,
  NAME_CHARACTERS_MAX,
  PATH_CHARACTERS_MAX,
  RETRIES_MAX,
  TIMEOUT_SECONDS_DEFAULT,
  TIMEOUT_SECONDS_MAX,
} from './limits.ts';
import { patterned, type Rule, ruled } from './rules.ts';

// my-node, metrics.example.org., under_score, 10.0.0.1, fd00::1
const ADDRESS =
  /^(([A-Za-z0-9_][A-Za-z0-9_-]{0,62}[.])*[A-Za-z0-9_][A-Za-z0-9_-]{0,62}[._]?|[0-9A-Fa-f:.]+)$/;

const address = patterned(text.max(NAME_CHARACTERS_MAX), ADDRESS, {
  what: 'neither an IP address nor a DNS name',
  fix: 'write the host alone, without scheme and port, as in "10.0.0.1" or "server.example"',
}).describe('IP address or DNS name of the server; the agent itself when absent.');

const ip = ruled(text, 'IP address of the server, in manifests of KubeDiag v0.2.0.', [
  {
    holds: (value) => z.union([z.ipv4(), z.ipv6()]).safeParse(value).success,
    what: 'not an IP address',
    fix: 'write one such as "10.0.0.1", or use httpServer.address for a DNS name',
  },
]).meta({ anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] });

// /processor/podDetailCollector
const ABSOLUTE = /^[/]/;

const path = patterned(text.max(PATH_CHARACTERS_MAX), ABSOLUTE, {
  what: 'does not start with "/"',
  fix: 'write the path of the processor, as in "/processor/podDetailCollector"',
}).describe('Path, with an optional query.');
const scheme = z.enum(['http', 'https']).describe('Scheme of the URL.');

// LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t... is "-----BEGIN CERTIFICATE-----"
const CERTIFICATES = /^LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t[A-Za-z0-9+/]*={0,2}$/;

const caBundle = patterned(text.max(CA_BUNDLE_CHARACTERS_MAX), CERTIFICATES, {
  what: 'not base64 of PEM certificates',
  fix: 'use the output of "base64 -w0 ca.crt"',
}).describe(
  'CA certificates to verify the server, PEM in base64; those of the system when absent.',
);

const httpServer = z
  .object({
    address: address.exactOptional(),
    port: port.describe('Port of the server; that of the agent when absent.').exactOptional(),
    path: path.default('/'),
    scheme: scheme.default('http'),
    caBundle: caBundle.exactOptional(),
    retries: z
      .int()
      .min(0)
      .max(RETRIES_MAX)
      .describe(
        'Number of retries after a network error; 3 when absent. All requests of a step have the same Idempotency-Key header.',
      )
      .exactOptional(),
    insecureSkipTLSVerify: flag
      .describe('Skip TLS verification. The server can then be impersonated. Off by default.')
      .exactOptional(),
  })
  .describe('Calls a server: POST of one flat JSON object of strings, answered by another one.');

const scriptRunner = z
  .object({
    script: text.describe(
      'Text of the shell script. Every account on the node can read it while it runs.',
    ),
    argKeys: z
      .array(text)
      .max(ARGUMENTS_MAX)
      .describe(
        'Keys of the parameters and results to pass as arguments. Every account on the node can read arguments ' +
          'while the script runs (/proc/PID/cmdline): read secrets from the environment, see scriptRunner.',
      )
      .exactOptional(),
    operationResultKey: text
      .describe('The output becomes the result operation.KEY.output, an error operation.KEY.error.')
      .exactOptional(),
    ignoreExitCode: flag
      .describe('The step succeeds with any exit code, as it did up to v0.3.1. Off by default.')
      .exactOptional(),
  })
  .describe(
    'Runs a shell script on the node. All parameters and results are in its environment: as one JSON object in ' +
      'KUBEDIAG_PARAMETERS, and each in KUBEDIAG_PARAM_KEY, with the key in upper case and "_" for all but letters and ' +
      'digits. KUBEDIAG_OMITTED names the keys without a variable, with the reason: two keys would share it, the ' +
      'value holds a NUL character, or all have more than 120 KiB together. A script runs at most once for each ' +
      'step: if a restart of KubeDiag interrupts it, the step fails.',
  );

// function.py, requirements.txt
const FILE_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

const codeSource = ruled(
  z.record(z.string(), text),
  'The files of the function: name and content.',
  [
    {
      holds: (files) => Object.keys(files).length <= CODE_FILES_MAX,
      what: `more than ${CODE_FILES_MAX} files`,
      fix: 'merge files',
    },
    {
      holds: (files) => Object.keys(files).every((name) => FILE_NAME.test(name)),
      cel: `self.all(name, name.matches('${FILE_NAME.source}'))`,
      what: 'a file name could lead out of the directory',
      fix: 'use letters, digits, "_", "-" and ".", without "/"',
    },
  ],
).meta({ maxProperties: CODE_FILES_MAX });

const functionRunner = z
  .object({
    codeSource,
    runtime: z
      .enum(['Python3', 'python3', 'golang-http'])
      .describe('Python3: handler(context) of function.py returns a dict of strings.'),
  })
  .describe('Runs a function.')
  // The check of steps reports it here, with the place of the file list.
  .meta({
    'x-kubernetes-validations': [
      {
        rule: "self.runtime != 'Python3' || 'function.py' in self.codeSource",
        message:
          'the function cannot run, there is no file function.py: define handler(context) in a file of that name',
      },
    ],
  });

const timeoutSeconds = z
  .int()
  .min(1)
  .max(TIMEOUT_SECONDS_MAX)
  .default(TIMEOUT_SECONDS_DEFAULT)
  .describe('Timeout of one run.');

const FLAT = ['externalIP', 'externalAddress', 'externalPort', 'path', 'scheme'] as const;
const STRUCTURED = ['httpServer', 'scriptRunner', 'function'] as const;

/** "function" is a reserved word in CEL, which escapes such field names. */
const celName = (field: string) => (field === 'function' ? '__function__' : field);

const anyFlat = `(${FLAT.map((field) => `has(self.${field})`).join(' || ')})`;
const waysInCel = [...STRUCTURED.map((field) => `has(self.${celName(field)})`), anyFlat]
  .map((has) => `(${has} ? 1 : 0)`)
  .join(' + ');

/** How many ways to run it are set. The flat fields of v0.2.0 together are one way. */
function waysOf(processor: object): number {
  const isFlat = FLAT.some((field) => field in processor);
  return STRUCTURED.filter((field) => field in processor).length + (isFlat ? 1 : 0);
}

const rules: readonly Rule<object>[] = [
  {
    holds: (processor) => waysOf(processor) > 0,
    cel: `${waysInCel} > 0`,
    what: 'the processor has no way to run',
    fix: 'set httpServer, scriptRunner or function',
  },
  {
    holds: (processor) => waysOf(processor) < 2,
    cel: `${waysInCel} < 2`,
    what: 'the processor has more than one way to run',
    fix: 'keep one of httpServer, scriptRunner, function or the flat fields (path, scheme…)',
  },
];

const processor = ruled(
  z.object({
    timeoutSeconds,
    httpServer: httpServer.exactOptional(),
    scriptRunner: scriptRunner.exactOptional(),
    function: functionRunner.exactOptional(),
    externalIP: ip.exactOptional(),
    externalAddress: address.exactOptional(),
    externalPort: port
      .describe('Port of the server, in manifests of KubeDiag v0.2.0.')
      .exactOptional(),
    // No default for the flat form: it would be a second way beside the structured ones.
    path: path.exactOptional(),
    scheme: scheme.exactOptional(),
  }),
  'How the step is run: exactly one way.',
  rules,
);

const hostPath = z.object({ path: text.describe('No effect.') }).describe('No effect.');

export const operationSpec = z
  .object({
    processor,
    dependences: z
      .array(text)
      .describe('No effect. Accepted because manifests of KubeDiag v0.2 and v0.3 have it.')
      .exactOptional(),
    storage: z
      .object({ hostPath: hostPath.exactOptional() })
      .describe('No effect. Accepted because manifests of KubeDiag v0.2 and v0.3 have it.')
      .exactOptional(),
  })
  .describe('The step.');

export type OperationSpec = z.output<typeof operationSpec>;

export const observedGeneration = count.describe(
  'The metadata.generation that was processed last.',
);
