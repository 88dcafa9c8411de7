import * as z from 'zod';
import { count, flag, text, textMap, time } from './fields.ts';

export const commonEventSpec = z
  .object({
    summary: text.describe('What happened, in one sentence.'),
    source: text.describe('What is affected, for example a host name.'),
    severity: text.describe('How bad it is, in the words of the sender.'),
    timestamp: text.describe('When the sender saw it, in its own format.').exactOptional(),
    class: text.describe('Kind of the event, for example highCPU.').exactOptional(),
    component: text.describe('Part of the source that is affected.').exactOptional(),
    group: text.describe('What the source belongs to.').exactOptional(),
    customDetails: textMap.describe('More about the event.').exactOptional(),
  })
  .describe('The event, as it was received.');

export const commonEventStatus = z
  .object({
    count: count.describe('Number of times it was received.').exactOptional(),
    resolved: flag.describe('Whether the sender has resolved it.').exactOptional(),
    diagnosed: flag.describe('Whether a Diagnosis was created from it.').exactOptional(),
    lastUpdateTime: time.describe('When it was received last.').exactOptional(),
  })
  .describe('How often the event was received.');

export type CommonEventSpec = z.output<typeof commonEventSpec>;
