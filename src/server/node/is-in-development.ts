/**
 * Whether a service is being developed. Then checks that cost time and find mistakes are on by
 * default.
 */
export function isInDevelopment(): boolean {
  return process.env['NODE_ENV'] !== 'production';
}
