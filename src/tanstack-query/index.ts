/**
 * `correctables/tanstack-query`: reads as queries. Needs TanStack Query 5: `@tanstack/query-core`
 * or one of its adapters.
 */
export {
  correctableQuery,
  type CorrectableQuery,
  type CorrectableQueryOptions,
} from './correctable-query.ts';
