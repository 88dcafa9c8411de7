/** The values of `kubediag get -o`. One that ends in "=" needs a template or a file behind it. */
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
