import * as z from 'zod';
import { count, flag, text, textMap, time } from './fields.ts';

export const commonEventSpec = z.object({
  summary: text,
  source: text,
  severity: text,
  timestamp: text.exactOptional(),
  class: text.exactOptional(),
  component: text.exactOptional(),
  group: text.exactOptional(),
  customDetails: textMap.exactOptional(),
});

export const commonEventStatus = z.object({
  count: count.describe('Number of times it was received.').exactOptional(),
  resolved: flag.exactOptional(),
  diagnosed: flag.exactOptional(),
  lastUpdateTime: time.exactOptional(),
});

export type CommonEventSpec = z.output<typeof commonEventSpec>;
