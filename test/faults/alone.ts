import type { StageLike } from '../stage.ts'

/** Plays a cell that brings all it needs, and takes that away when it ends. */
export async function playAlone(stage: StageLike, play: (own: StageLike) => Promise<void>): Promise<void> {
  const works: (() => unknown)[] = []
  const own: StageLike = {
    teardown: (work) => works.push(work),
    comment: (text) => stage.comment(text),
    passing: () => stage.passing(),
    ...(stage.log && { log: stage.log }),
  }
  const clean = async () => {
    for (let one = works.pop(); one; one = works.pop()) await one()
  }
  stage.teardown(clean)
  try {
    await play(own)
  } finally {
    await clean()
  }
}
