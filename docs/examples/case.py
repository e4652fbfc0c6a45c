"""The life of a case with a document, from its making to its closing. It needs Python 3.9 or later, and nothing else:

    API=… CLIENT_ID=… CLIENT_SECRET=… python3 case.py

It takes the first published zaaktype that has what it needs. docs/clients.md tells the why of each step.
"""
import base64, hashlib, hmac, json, os, time, uuid
from datetime import datetime, timedelta, timezone
from urllib.error import HTTPError
from urllib.parse import urljoin
from urllib.request import Request, urlopen

API, CLIENT_ID, CLIENT_SECRET = (os.environ[name] for name in ("API", "CLIENT_ID", "CLIENT_SECRET"))


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

def token(client_id: str, secret: str) -> str:
    head = {"typ": "JWT", "alg": "HS256"}
    claims = {"iss": client_id, "client_id": client_id, "iat": int(time.time()),
              "user_id": "jan", "user_representation": "Jan"}
    signed = ".".join(encode(json.dumps(part).encode()) for part in (head, claims))
    return f"{signed}.{encode(hmac.digest(secret.encode(), signed.encode(), hashlib.sha256))}"


class Fault(Exception):
    """What went wrong, by its code: act on that, and show the message to people."""

    def __init__(self, problem: dict):
        self.status, self.code = problem["status"], problem["code"]
        self.fields = problem.get("invalidParams", [])
        fields = [f"{one['name']}: {one['code']} ({one['reason']})" for one in self.fields]
        super().__init__("\n".join([f"{self.status} {self.code}: {problem['detail']}", *fields]))


def ask(method: str, url: str, body=None, **headers):
    """One request, tried again while the service says when to come back. Body and ETag of the answer."""
    key = str(uuid.uuid4())  # the same for every attempt: what was done is not done again
    for attempt in range(1, 6):
        request = Request(
            urljoin(API, url),
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {token(CLIENT_ID, CLIENT_SECRET)}",
                "Accept-Crs": "EPSG:4326",
                "Content-Crs": "EPSG:4326",
                **({} if body is None else {"Content-Type": "application/json", "Idempotency-Key": key}),
                **headers,
            },
        )
        try:
            with urlopen(request, timeout=60) as answer:
                text = answer.read()
                return (json.loads(text) if text else None), answer.headers.get("ETag")
        except HTTPError as error:
            fault = Fault(json.loads(error.read()))  # application/problem+json (RFC 9457)
            wait = error.headers.get("Retry-After")
            if attempt == 5 or not wait:
                raise fault from None
            time.sleep(int(wait))

def get(url: str):
    return ask("GET", url)[0]

def post(url: str, body: dict):
    return ask("POST", url, body)[0]


# The type says which statuses, results and documents its cases have.
ZAKEN = "/zaken/api/v1"
DOCUMENTEN = "/documenten/api/v1"
zaaktype = next(
    one for one in get("/catalogi/api/v1/zaaktypen?status=definitief")["results"]
    if len(one["statustypen"]) > 1 and one["resultaattypen"] and one["informatieobjecttypen"]
)
statustypen = sorted(map(get, zaaktype["statustypen"]), key=lambda one: one["volgnummer"])
first, last = statustypen[0], statustypen[-1]

# A case with a number of your own can be found again when an answer got lost.
zaak = post(f"{ZAKEN}/zaken", {
    "identificatie": f"EXAMPLE-{str(uuid.uuid4())[:13]}",
    "zaaktype": zaaktype["url"],
    "bronorganisatie": "000000000",
    "verantwoordelijkeOrganisatie": "000000000",
    "startdatum": "2026-01-05",
    "omschrijving": "Kapvergunning eik",
})
now = datetime.now(timezone.utc)
post(f"{ZAKEN}/statussen", {
    "zaak": zaak["url"], "statustype": first["url"], "datumStatusGezet": (now - timedelta(seconds=1)).isoformat()})

# A document. Say at once whether there are gebruiksrechten: a case does not close while that is not known.
content = "Geachte heer, mevrouw, …".encode()
document = post(f"{DOCUMENTEN}/enkelvoudiginformatieobjecten", {
    "informatieobjecttype": zaaktype["informatieobjecttypen"][0],
    "bronorganisatie": "000000000",
    "creatiedatum": "2026-01-05",
    "titel": "Ontvangstbevestiging",
    "auteur": "Jan",
    "taal": "nld",
    "formaat": "text/plain",
    "bestandsnaam": "ontvangst.txt",
    "bestandsomvang": len(content),
    "inhoud": base64.b64encode(content).decode(),
    "indicatieGebruiksrecht": False,
})
post(f"{ZAKEN}/zaakinformatieobjecten", {"zaak": zaak["url"], "informatieobject": document["url"]})

# A document is changed by who holds its lock.
lock = post(f"{document['url']}/lock", {})["lock"]
try:
    ask("PATCH", document["url"], {"titel": "Ontvangstbevestiging kapvergunning", "lock": lock})
finally:
    post(f"{document['url']}/unlock", {"lock": lock})

# A case is changed by anyone who may. If-Match sees to it that nobody's change is lost.
seen, etag = ask("GET", zaak["url"])
try:
    ask("PATCH", zaak["url"], {"toelichting": f"{seen['toelichting']} Boom is gekeurd.".strip()}, **{"If-Match": etag})
except Fault as fault:
    if fault.code != "precondition_failed":
        raise
    print("somebody was first: read the case again, and show what changed")

# Closing: the result first, then the end status.
post(f"{ZAKEN}/resultaten", {"zaak": zaak["url"], "resultaattype": zaaktype["resultaattypen"][0]})
post(f"{ZAKEN}/statussen", {
    "zaak": zaak["url"], "statustype": last["url"], "datumStatusGezet": datetime.now(timezone.utc).isoformat()})
closed = get(zaak["url"])
print(closed["identificatie"], closed["url"], closed["einddatum"], closed["archiefactiedatum"])
