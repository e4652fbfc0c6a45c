// Conveniences only: every page works without it.

// data-ververs="15": keeps a part of the page up to date. It has an id, by which it is found in the page asked anew. When
// there is no answer it says that what stands there is old; data-stil does not say so.
for (const part of document.querySelectorAll('[data-ververs]')) {
  let last = new Date().toLocaleTimeString('nl-NL')
  let notice
  setInterval(async () => {
    if (document.hidden || part.querySelector('input:focus, select:focus, textarea:focus')) return
    const fresh = await replace(part, location.href).catch(() => false)
    if (fresh) last = new Date().toLocaleTimeString('nl-NL')
    if (fresh || 'stil' in part.dataset) {
      notice?.remove()
      notice = undefined
    } else if (!notice) {
      notice = document.createElement('div')
      notice.className = 'bericht bericht-fout'
      notice.setAttribute('role', 'alert')
      notice.textContent = `Deze pagina kan niet worden bijgewerkt: de dienst of de database antwoordt niet. Wat hieronder staat is van ${last}.`
      part.before(notice)
    }
  }, Number(part.dataset.ververs) * 1000)
}

// data-stroom="url": the same, whenever the server says that there is something new.
for (const part of document.querySelectorAll('[data-stroom]')) {
  const source = new EventSource(part.dataset.stroom)
  source.addEventListener('stand', async (event) => {
    const values = JSON.parse(event.data)
    for (const place of part.querySelectorAll('[data-waarde]')) {
      const value = values[place.dataset.waarde]
      if (value === undefined) continue
      if (place.tagName === 'PROGRESS') place.value = value
      else if (place.textContent !== value) place.textContent = value
    }
  })
  source.addEventListener('klaar', () => {
    source.close()
    location.reload()
  })
}

// data-voorbeeld="#id": shows at once what the form would lead to.
for (const form of document.querySelectorAll('form[data-voorbeeld]')) {
  const target = document.querySelector(form.dataset.voorbeeld)
  let timer
  form.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      const query = new URLSearchParams(new FormData(form))
      query.delete('_csrf')
      for (const name of [...query.keys()]) if (form.elements[name]?.type === 'password') query.delete(name)
      replace(target, `${location.pathname}?${query}`).catch(() => {})
    }, 300)
  })
}

// data-alles: ticks all boxes of its form.
for (const box of document.querySelectorAll('input[data-alles]')) {
  box.closest('[hidden]')?.removeAttribute('hidden')
  box.addEventListener('change', () => {
    for (const other of box.form.querySelectorAll(`input[type=checkbox][name="${box.dataset.alles}"]`))
      other.checked = box.checked
  })
}

// data-kopieer="#id": copies a text.
for (const button of document.querySelectorAll('button[data-kopieer]')) {
  button.hidden = false
  button.addEventListener('click', async () => {
    const source = document.querySelector(button.dataset.kopieer)
    await navigator.clipboard.writeText(source.value ?? source.textContent)
    button.textContent = 'Gekopieerd'
  })
}

async function replace(part, url) {
  const answer = await fetch(url, { headers: { accept: 'text/html' } })
  if (answer.redirected) return location.reload()
  if (!answer.ok) return false
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  const fresh = page.getElementById(part.id)
  if (!fresh)
    location.reload() // another page by now
  else if (fresh.innerHTML !== part.innerHTML) {
    const places = () => [...part.querySelectorAll('a, button, [tabindex]')]
    const focus = places().indexOf(document.activeElement)
    part.innerHTML = fresh.innerHTML
    places()[focus]?.focus({ preventScroll: true })
  }
  return true
}
