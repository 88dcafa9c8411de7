/** How `kubediag get` shows what it got, as `-o` names it. What ends in "=" needs more behind it. */
export const OUTPUT_FORMATS = [
  'wide',
  'yaml',
  'json',
  'name',
  'jsonpath=',
  'jsonpath-file=',
  'jsonpath-as-json=',
  'custom-columns=',
  'custom-columns-file=',
] as const;
