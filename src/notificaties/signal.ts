// A pause that somebody else may cut short.

export type Signal = ReturnType<typeof openSignal>

/** To be told something while pausing. What was told since `clear` makes the next pause a short one. */
export function openSignal() {
  let isTold = false
  let goOn = () => {}
  return {
    tell: () => {
      isTold = true
      goOn()
    },
    isTold: () => isTold,
    clear: () => {
      isTold = false
    },
    /** So long, or until it is told of something; but never shorter than `least`. */
    pause(least: number, most: number): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>()
      const began = performance.now()
      let timer = setTimeout(resolve, isTold ? Math.min(least, most) : most)
      goOn = () => {
        goOn = () => {}
        clearTimeout(timer)
        const rest = began + least - performance.now()
        if (rest <= 0) resolve()
        else timer = setTimeout(resolve, rest)
      }
      return promise
    },
  }
}
