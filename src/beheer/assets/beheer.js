// Conveniences only: every page works without it.

const say = (dutch, english) => (document.documentElement.lang === 'en' ? english : dutch)

// data-ververs="15": keeps a part up to date, found by its id in the page asked anew. Without an answer it says so,
// not so data-stil.
for (const part of document.querySelectorAll('[data-ververs]')) {
  let last = new Date().toLocaleTimeString(say('nl-NL', 'en-GB'))
  let notice
  setInterval(async () => {
    if (document.hidden || part.querySelector('input:focus, select:focus, textarea:focus')) return
    const fresh = await replace(part, location.href, { 'x-ververs': 'ja' }).catch(() => false)
    if (fresh) last = new Date().toLocaleTimeString(say('nl-NL', 'en-GB'))
    if (fresh || 'stil' in part.dataset) {
      notice?.remove()
      notice = undefined
    } else if (!notice) {
      notice = document.createElement('div')
      notice.className = 'bericht bericht-fout'
      notice.setAttribute('role', 'alert')
      notice.textContent = say(
        `Deze pagina kan niet worden bijgewerkt: de dienst of de database antwoordt niet. Wat hieronder staat is van ${last}.`,
        `This page cannot be kept up to date: the service or the database does not answer. What is below is of ${last}.`,
      )
      part.before(notice)
    }
  }, Number(part.dataset.ververs) * 1000)
}

// data-stroom="url": the same, whenever the server has something new.
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

// data-voorbeeld="#id": shows what the form would lead to.
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
    button.textContent = say('Gekopieerd', 'Copied')
  })
}

// data-toonbaar: a password that may be looked at.
for (const input of document.querySelectorAll('input[data-toonbaar]')) {
  const label = document.createElement('label')
  const box = document.createElement('input')
  box.type = 'checkbox'
  label.className = 'aankruis'
  label.append(box, ` ${say('Wachtwoord tonen', 'Show password')}`)
  input.after(label)
  box.addEventListener('change', () => {
    input.type = box.checked ? 'text' : 'password'
  })
}

// A menu closes with a click elsewhere, and Escape.
document.addEventListener('click', ({ target }) => {
  for (const menu of document.querySelectorAll('.meer-menu[open]')) if (!menu.contains(target)) menu.open = false
})
document.addEventListener('keydown', ({ key, target }) => {
  const menu = key === 'Escape' && target.closest('.meer-menu[open]')
  if (!menu) return
  menu.open = false
  menu.querySelector('summary').focus()
})

// data-meteen: a form that goes at once.
document.querySelector('form[data-meteen]')?.submit()

// What is wrong gets the focus.
document.querySelector('[data-fouten]')?.focus()

// data-als="name": a field that counts while another has one of data-als-waarden.
const depending = [...document.querySelectorAll('[data-als]')]
function showDepending() {
  for (const part of depending) {
    const inputs = [...document.getElementsByName(part.dataset.als)]
    const value = inputs.length > 1 ? inputs.find(({ checked }) => checked)?.value : inputs[0]?.value
    part.hidden = inputs.length > 0 && !part.dataset.alsWaarden.split(' ').includes(value)
  }
}
if (depending.length > 0) {
  showDepending()
  document.addEventListener('change', showDepending)
}

// data-klasse: a choice of the selectielijst fills in what it says.
document.querySelector('select[data-klasse]')?.addEventListener('change', ({ target }) => {
  const { nominatie, aantal, eenheid, wijze, uitleg = '' } = target.selectedOptions[0].dataset
  document.querySelector('[data-klasse-uitleg]').textContent = uitleg
  if (nominatie === undefined) return
  const fill = (name, value) => {
    const [input] = document.getElementsByName(name)
    if (input) input.value = value
  }
  fill('archiefnominatie', nominatie)
  fill('archiefactietermijn.aantal', aantal)
  fill('archiefactietermijn.eenheid', eenheid)
  if (wijze) fill('brondatumArchiefprocedure.afleidingswijze', wijze)
  showDepending()
})

// data-regel-erbij: one more row, below the last.
for (const button of document.querySelectorAll('button[data-regel-erbij]')) {
  button.hidden = false
  button.addEventListener('click', () => {
    const rows = button.parentElement.querySelectorAll('[data-regel]')
    const last = rows[rows.length - 1]
    const row = last.cloneNode(true)
    row.setAttribute('aria-label', `Regel ${rows.length + 1}`)
    for (const input of row.querySelectorAll('input, select')) input.value = ''
    for (const part of row.querySelectorAll('[id]')) part.id += '-erbij'
    for (const label of row.querySelectorAll('label')) label.htmlFor += '-erbij'
    last.after(row)
    row.querySelector('select').focus()
  })
}

// data-zoekbaar: a long list gets a box to search in.
for (const list of document.querySelectorAll('[data-zoekbaar]')) {
  const box = document.createElement('input')
  box.type = 'search'
  box.placeholder = say('Zoeken in de lijst', 'Search the list')
  box.setAttribute('aria-label', box.placeholder)
  box.addEventListener('input', () => {
    const text = box.value.toLowerCase()
    for (const label of list.querySelectorAll('label'))
      label.hidden = !label.textContent.toLowerCase().includes(text) && !label.querySelector(':checked')
  })
  box.addEventListener('keydown', (event) => event.key === 'Enter' && event.preventDefault())
  list.before(box)
}

// data-volgorde: rows that are dragged, or moved with their buttons, and then saved.
for (const form of document.querySelectorAll('[data-volgorde]')) {
  const list = form.querySelector('.volgorde')
  const told = form.querySelector('[data-gemeld]')
  const save = form.querySelector('[data-opslaan]')
  if (!save) continue
  let dragged
  form.querySelector('[data-slepen]').hidden = false
  const changed = (row) => {
    const rows = [...list.children]
    for (const [place, one] of rows.entries()) {
      one.querySelector('[data-laatste]').hidden = place < rows.length - 1
      one.querySelector('[name=omhoog]').disabled = place === 0
      one.querySelector('[name=omlaag]').disabled = place === rows.length - 1
    }
    save.hidden = false
    const [place, all] = [rows.indexOf(row) + 1, rows.length]
    told.textContent = say(
      `${row.dataset.naam}, plaats ${place} van ${all}. Nog niet opgeslagen.`,
      `${row.dataset.naam}, place ${place} of ${all}. Not saved yet.`,
    )
  }
  form.addEventListener('click', (event) => {
    const button = event.target.closest('[name=omhoog], [name=omlaag]')
    if (!button) return
    event.preventDefault()
    const row = button.closest('li')
    if (button.name === 'omhoog') row.previousElementSibling?.before(row)
    else row.nextElementSibling?.after(row)
    changed(row)
    if (button.disabled) row.querySelector('button:not(:disabled)').focus()
    else button.focus()
  })
  list.addEventListener('dragstart', (event) => {
    dragged = event.target.closest('li')
    dragged.classList.add('gesleept')
  })
  list.addEventListener('dragend', () => dragged.classList.remove('gesleept'))
  list.addEventListener('dragover', (event) => {
    event.preventDefault()
    const row = event.target.closest('li')
    if (!row || !dragged || row === dragged) return
    const { top, height } = row.getBoundingClientRect()
    if (event.clientY < top + height / 2) row.before(dragged)
    else row.after(dragged)
    changed(dragged)
  })
}

async function replace(part, url, headers = {}) {
  const answer = await fetch(url, { headers: { accept: 'text/html', ...headers } })
  if (answer.redirected) return location.reload()
  if (!answer.ok) return false
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  const fresh = page.getElementById(part.id)
  if (!fresh)
    location.reload() // another page by now
  else {
    const folded = fresh.querySelectorAll('details')
    for (const [place, { open }] of part.querySelectorAll('details').entries())
      if (folded[place]) folded[place].open = open
    if (fresh.innerHTML === part.innerHTML) return true
    const places = () => [...part.querySelectorAll('a, button, [tabindex]')]
    const focus = places().indexOf(document.activeElement)
    part.innerHTML = fresh.innerHTML
    places()[focus]?.focus({ preventScroll: true })
  }
  return true
}
