/** The case studies by name. Each is loaded when it is asked for. */
import type { CaseStudy } from './case-study.ts';

export const STUDIES = ['tpcw', 'rubis', 'quoddy'] as const;
export type StudyName = (typeof STUDIES)[number];

export async function studyOf(name: StudyName): Promise<CaseStudy> {
  switch (name) {
    case 'tpcw':
      return (await import('./tpcw/study.ts')).study;
    case 'rubis':
      return (await import('./rubis/study.ts')).study;
    case 'quoddy':
      return (await import('./quoddy/study.ts')).study;
  }
}
