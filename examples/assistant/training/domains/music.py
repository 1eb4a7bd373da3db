"""Music: what to play, the player's buttons, what is playing, and the volume."""
from grammar import Intent, Lexicon, arguments

TITLES = Lexicon("""bohemian rhapsody, yesterday, imagine, hey jude, let it be, thriller, billie jean, beat it, smells like teen spirit, hotel california, stairway to heaven, purple rain, like a virgin, like a prayer,
    dancing queen, mamma mia, waterloo, fernando, wonderwall, don't look back in anger, creep, karma police, zombie, linger, dreams, go your own way, africa, rosanna, take on me, every breath you take, roxanne,
    sweet child o' mine, november rain, back in black, highway to hell, thunderstruck, enter sandman, nothing else matters, paranoid, smoke on the water, born to run, dancing in the dark, thunder road, hallelujah,
    suzanne, bird on the wire, blowin' in the wind, like a rolling stone, the sound of silence, bridge over troubled water, mrs robinson, piano man, uptown girl, vienna, rocket man, tiny dancer, your song,
    candle in the wind, i'm still standing, crocodile rock, space oddity, life on mars, heroes, let's dance, changes, ziggy stardust, under pressure, radio ga ga, we will rock you, we are the champions,
    killer queen, somebody to love, don't stop me now, another brick in the wall, wish you were here, comfortably numb, money, paint it black, satisfaction, angie, wild horses, gimme shelter, respect,
    natural woman, superstition, isn't she lovely, sir duke, what's going on, sexual healing, my girl, my way, fly me to the moon, strangers in the night, new york new york, what a wonderful world, la vie en rose,
    over the rainbow, moon river, unchained melody, stand by me, twist and shout, here comes the sun, come together, something in the way, blackbird, penny lane, yellow submarine, eleanor rigby, help, ticket to ride,
    jolene, nine to five, islands in the stream, i will always love you, i will survive, stayin' alive, night fever, le freak, good times, september, boogie wonderland, celebration, ymca, funkytown, hot stuff,
    bad girls, girls just want to have fun, time after time, material girl, vogue, into the groove, frozen, careless whisper, last christmas, wake me up before you go go, faith, freedom, total eclipse of the heart,
    eye of the tiger, the final countdown, livin' on a prayer, it's my life, jump, sweet dreams, here comes the rain again, tainted love, enjoy the silence, personal jesus, just can't get enough,
    blue monday, boys don't cry, friday i'm in love, just like heaven, losing my religion, everybody hurts, with or without you, beautiful day, sunday bloody sunday, viva la vida, yellow, the scientist, clocks, fix you,
    paradise, mr brightside, human, use somebody, sex on fire, seven nation army, take me out, do i wanna know, radioactive, demons, believer, ho hey, little talks, riptide, someone like you, hello,
    rolling in the deep, skyfall, easy on me, chasing pavements, rehab, back to black, valerie, umbrella, diamonds, we found love, single ladies, halo, crazy in love, formation, texas hold 'em, bad romance,
    poker face, shallow, telephone, firework, roar, teenage dream, toxic, baby one more time, oops i did it again, shake it off, blank space, cruel summer, anti hero, love story, cardigan, bad guy, ocean eyes,
    birds of a feather, drivers license, good 4 u, levitating, don't start now, new rules, blinding lights, starboy, save your tears, shape of you, perfect, thinking out loud, bad habits, watermelon sugar, as it was,
    sorry not sorry, baby, love yourself, uptown funk, grenade, just the way you are, happy together, get lucky, around the world, titanium, wake me up, levels, one dance, god's plan, hotline bling, humble,
    alright, lose yourself, stan, the real slim shady, in da club, empire state of mind, gold digger, stronger, hey ya, ms jackson, california love, gangsta's paradise, no scrubs, waterfalls, wannabe,
    say you'll be there, i want it that way, bye bye bye, torn, ironic, bitter sweet symphony, angels, feel, rock dj, la bamba, volare, azzurro, felicita, ti amo, con te partiro, bella ciao, o sole mio,
    despacito, macarena, bamboleo, guantanamera, besame mucho, la camisa negra, waka waka, hips don't lie, bailando, vivir mi vida, suavemente, danza kuduro, gasolina, girl from ipanema, mas que nada, ne me quitte pas,
    non je ne regrette rien, la mer, alors on danse, papaoutai, derniere danse, moi lolita, voyage voyage, major tom, neunundneunzig luftballons, rock me amadeus, atemlos, du hast, gangnam style, dynamite, butter,
    sukiyaki, plastic love, jai ho, pata pata, jerusalema, calm down, kalinka, katyusha, dragostea din tei, no woman no cry, three little birds, redemption song, is this love, buffalo soldier, red red wine,
    ring of fire, hurt, folsom prison blues, take me home country roads, annie's song, the gambler, friends in low places, old town road, man i feel like a woman, before he cheats, cry me a river, feeling good,
    i put a spell on you, summertime, take five, so what, sing sing sing, in the mood, jailhouse rock, love me tender, suspicious minds, hound dog, johnny b goode, great balls of fire, tutti frutti, be my baby,
    silent night, jingle bells, white christmas, all i want for christmas is you, feliz navidad, happy birthday, twinkle twinkle little star, the wheels on the bus, baby shark, let it go, hakuna matata, under the sea,
    moonlight sonata, fur elise, clair de lune, ode to joy, the four seasons, swan lake, bolero, canon in d, the blue danube, danny boy, greensleeves, auld lang syne, amazing grace, scarborough fair, the wild rover""",
                 """tears in heaven, layla, lovely day, runaway train, sultans of swing, walk of life, brothers in arms, la isla bonita, torero, black hole sun, even flow, the chain, landslide, barracuda, baker street,
    dream on, crazy train, sailing, maggie may, brown eyed girl, moondance, crazy little thing, flashdance, maniac, footloose, royals, pompeii, stolen dance, ophelia, budapest, espresso, flowers,
    wrecking ball, party in the usa, hung up, murder on the dancefloor, padam padam, sacrifice, nights in white satin, wuthering heights, running up that hill, cloudbusting""")

ARTISTS = Lexicon("""queen, the beatles, taylor swift, michael jackson, madonna, adele, ed sheeran, coldplay, u2, abba, elvis presley, elton john, david bowie, pink floyd, led zeppelin, the rolling stones, bob dylan,
    bob marley, prince, stevie wonder, aretha franklin, marvin gaye, frank sinatra, nina simone, ella fitzgerald, louis armstrong, miles davis, john coltrane, duke ellington, billie holiday, norah jones, amy winehouse,
    beyonce, rihanna, drake, kanye west, jay z, eminem, kendrick lamar, snoop dogg, dr dre, tupac, cardi b, nicki minaj, lizzo, doja cat, sza, billie eilish, olivia rodrigo, dua lipa, harry styles, one direction,
    ariana grande, selena gomez, justin bieber, justin timberlake, bruno mars, the weeknd, post malone, lady gaga, katy perry, britney spears, christina aguilera, shakira, jennifer lopez, pink, kylie minogue, robbie williams,
    george michael, wham, duran duran, depeche mode, the cure, the smiths, joy division, new order, radiohead, oasis, blur, pulp, muse, arctic monkeys, the killers, kings of leon, the strokes, the white stripes, franz ferdinand,
    imagine dragons, mumford and sons, the lumineers, bon iver, fleet foxes, arcade fire, tame impala, daft punk, the chemical brothers, the prodigy, massive attack, portishead, moby, avicii, david guetta, calvin harris,
    tiesto, skrillex, deadmau5, kraftwerk, jean michel jarre, metallica, iron maiden, black sabbath, slayer, megadeth, motorhead, rammstein, nightwish, guns n' roses, ac dc, aerosmith, bon jovi, van halen, deep purple,
    the who, the kinks, the doors, jimi hendrix, janis joplin, cream, santana, fleetwood mac, the eagles, creedence clearwater revival, bruce springsteen, tom petty, neil young, joni mitchell, leonard cohen, simon and garfunkel,
    paul simon, james taylor, carole king, billy joel, johnny cash, dolly parton, willie nelson, kenny rogers, john denver, shania twain, garth brooks, luke combs, morgan wallen, kacey musgraves, chris stapleton, hank williams,
    patsy cline, ray charles, james brown, otis redding, sam cooke, al green, bill withers, the supremes, the temptations, the jackson five, diana ross, earth wind and fire, kool and the gang, donna summer, the bee gees, boney m,
    nirvana, pearl jam, foo fighters, soundgarden, green day, blink 182, the offspring, red hot chili peppers, rage against the machine, linkin park, system of a down, the ramones, the clash, sex pistols, the police, sting,
    phil collins, genesis, dire straits, simple minds, r e m, the cranberries, sinead o'connor, enya, van morrison, the pogues, the dubliners, hozier, bts, blackpink, twice, psy, hikaru utada, bad bunny,
    karol g, daddy yankee, luis miguel, juanes, rosalia, enrique iglesias, julio iglesias, gipsy kings, buena vista social club, celia cruz, marc anthony, edith piaf, charles aznavour, jacques brel, stromae, indila, zaz,
    andrea bocelli, luciano pavarotti, eros ramazzotti, laura pausini, adriano celentano, herbert groenemeyer, nena, helene fischer, peter fox, roxette, ace of base, robyn, bjork, sigur ros, a ha, burna boy, wizkid, fela kuti,
    miriam makeba, youssou n'dour, ravi shankar, arijit singh, a r rahman, lata mangeshkar, bach, mozart, beethoven, vivaldi, chopin, tchaikovsky, debussy, brahms, handel, schubert, hans zimmer, john williams, ludovico einaudi,
    philip glass, yo yo ma, dave brubeck, chet baker, bill evans, herbie hancock, charlie parker, thelonious monk, diana krall, michael buble, tony bennett, dean martin, nat king cole, bing crosby, doris day, cher, tina turner,
    whitney houston, mariah carey, celine dion, barbra streisand, janet jackson, tlc, destiny's child, spice girls, backstreet boys, take that, westlife, lana del rey, lorde, florence and the machine, sam smith, lewis capaldi""",
                  """eric clapton, rod stewart, tom waits, patti smith, kate bush, peter gabriel, tracy chapman, alicia keys, john legend, usher, outkast, gorillaz, placebo, the national, wilco, beirut, khruangbin,
    caro emerald, parov stelar, manu chao, cesaria evora, caetano veloso, tinariwen, falco, kraftklub, sabrina carpenter, chappell roan, charli xcx, maroon five, journey, toto, foreigner, heart, boston,
    rachmaninoff, liszt, erik satie, nina hagen, joan baez""")

ALBUMS = Lexicon("""thriller, abbey road, the dark side of the moon, the wall, rumours, back in black, nevermind, ok computer, kid a, the joshua tree, achtung baby, born in the usa, nebraska, purple rain, sign o' the times,
    bad, dangerous, off the wall, hotel california, houses of the holy, physical graffiti, sticky fingers, exile on main street, let it bleed, revolver, rubber soul, sgt pepper, the white album,
    pet sounds, blonde on blonde, blood on the tracks, blue, hejira, tapestry, harvest, after the gold rush, graceland, the stranger, goodbye yellow brick road, hunky dory, low, blackstar,
    a night at the opera, news of the world, brothers and sisters, moving pictures, paranoid, master of puppets, the black album, appetite for destruction, in utero, superunknown, dookie,
    american idiot, californication, blood sugar sex magik, parachutes, a rush of blood to the head, definitely maybe, parklife, different class, urban hymns, the bends, in rainbows, is this it, whatever people say i am,
    hot fuss, funeral, for emma forever ago, random access memories, discovery, homework, mezzanine, dummy, kind of blue, a love supreme, time out, head hunters, come away with me, back to black, frank,
    lemonade, renaissance, anti, folklore, evermore, midnights, red, fearless, reputation, lover, divide, multiply, future nostalgia, after hours, sour, guts, fine line, views, scorpion, the blueprint, illmatic,
    the chronic, the eminem show, to pimp a butterfly, damn, graduation, the miseducation of lauryn hill, songs in the key of life, innervisions, talking book, what's going on, exodus, legend, catch a fire, arrival,
    brothers, el camino, unplugged in new york, the goldberg variations, the planets, the four seasons, buena vista, racine carree, trans europe express, autobahn, violator, disintegration, the queen is dead""",
                 """astral weeks, horses, marquee moon, london calling, tusk, aja, bat out of hell, slippery when wet, hysteria, carrie and lowell, let england shake, channel orange, hounds of love,
    swordfishtrombones, the koln concert, heaven or las vegas, brat""")

# Nouns: "some jazz".
GENRES = Lexicon("""jazz, rock, pop, hip hop, rap, classical, country, blues, reggae, metal, heavy metal, punk, punk rock, techno, house, deep house, trance, disco, funk, soul, r and b, r&b, folk, indie, indie rock, indie pop,
    alternative, electronic, edm, drum and bass, dubstep, ambient, lofi, lofi hip hop, gospel, opera, salsa, latin, k pop, j pop, reggaeton, bluegrass, swing, big band, grunge, hard rock, classic rock, soft rock, smooth jazz,
    synth pop, new wave, afrobeats, flamenco, samba, tango, bachata, cumbia, merengue, calypso, dancehall, trap, motown, rockabilly, doo wop, rhythm and blues, baroque, chillout, oldies, death metal, progressive rock, trip hop,
    hardcore, britpop, bebop, latin jazz, easy listening, folk rock, country rock, celtic, irish folk, schlager, chanson, fado, mariachi, klezmer, bollywood, jungle, garage rock, acid jazz, nu metal""",
                 """bossa nova, ska, shoegaze, zydeco, synthwave, rumba, dixieland, krautrock, highlife, polka, vaporwave, honky tonk""")
# Adjectives: "something relaxing".
MOODS = Lexicon("""relaxing, calm, calming, upbeat, happy, sad, romantic, energetic, soothing, mellow, cheerful, gentle, peaceful, fun, funky, slow, fast, soft, chill, intense, dreamy, melancholic, uplifting, motivating, inspiring,
    jazzy, groovy, sexy, epic, nostalgic, festive, cozy, spooky, emotional, powerful, moody, smooth, lively, catchy, dramatic, sentimental, acoustic, instrumental, danceable, classy, heavy, tropical, medieval, modern, traditional,
    positive, exciting, beautiful, sweet, summery, rhythmic""",
                """serene, bouncy, gloomy, hypnotic, playful, angry, sunny, wild, tender, psychedelic""")
# What only goes with "music" or "songs".
THEMES = Lexicon("""christmas, holiday, halloween, easter, birthday, wedding, dinner, party, workout, background, children's, kids, piano, guitar, movie, film, disney, summer, winter, road trip, church, meditation, sleep, study, spa, yoga,
    campfire, dance, love, french, italian, spanish, german, irish, african, brazilian, cuban, indian, japanese, korean, greek, turkish, arabic, russian, polish, mexican, hawaiian, scottish, american, british, christian, worship,
    video game, gaming, musical, orchestral, choir, violin, organ, drinking, hiking, barbecue, beach, thanksgiving, country dance, bedtime, morning""",
                 """portuguese, swedish, brass band, cello, cocktail, hanukkah, accordion, beach party, new year's eve""")
ACTIVITIES = Lexicon("""cooking, running, studying, sleeping, dinner, driving, cleaning, reading, dancing, meditation, yoga, working, working out, breakfast, exercise, relaxing, painting, homework, concentration, focus, writing, baking,
    gardening, stretching, jogging, walking, hiking, cycling, gaming, falling asleep, waking up, a party, the gym, the kids, the baby, the dog, a barbecue, a road trip, a romantic evening, a rainy day, the car, a birthday party,
    the beach, coffee time, family dinner, children, lunch, a long drive, a sunday morning""",
                     """knitting, ironing, journaling, a picnic, sewing, the sauna, rowing, a candlelight dinner""")
VERBS = "dance,cook,run,sleep,relax,study,work,read,drive,clean,work out,fall asleep,wake up,sing along,exercise,unwind,chill,concentrate,meditate,focus".split(",")
DECADES = "80s,90s,70s,60s,50s,2000s,eighties,nineties,seventies,sixties,fifties,two thousands,forties,twenties,40s,2010s,early 2000s,late 90s".split(",")

PLAYLISTS = Lexicon("""workout, party, chill, road trip, dinner, cooking, running, sleep, morning, favorites, summer, study, focus, gym, driving, cleaning, relaxing, date night, christmas, coffee shop, sunday morning, good vibes,
    throwback, old school, kids, family, barbecue, birthday, wedding, yoga, meditation, bedtime, rainy day, sad songs, happy songs, love songs, work, office, commute, deep focus, evening, wake up, dance, girls night, guitar, piano,
    discover weekly, top hits, summer hits, car, beach, shower, karaoke, house party, feel good, lazy sunday, power hour, best of 2020, mellow mornings, friday night, jazz classics, rock classics,
    new discoveries, holiday, dad's songs, mom's favorites, baby songs, garden, poker night, reading, heartbreak, motivation, guilty pleasures, lunch break, night drive""",
                    """hangover, leg day, fishing trip, thursday grooves, spring cleaning, sunset, pizza night, marathon, brunch, moonlight""")

KNOWN_TITLES = [t for t in TITLES.train if t not in ARTISTS.train and t not in GENRES.train]
KNOWN_ALBUMS = [a for a in ALBUMS.train if a not in TITLES.train and a not in ARTISTS.train and a not in MOODS.train and len(a.split()) > 1]
ROOMS_OF_MUSIC = ["kitchen", "bedroom", "living room", "bathroom", "office", "garage", "garden", "car", "dining room", "kids room", "basement", "hallway"]


def of(lexicon):
    def slot(g):
        w = g.word(lexicon)
        return w, w
    return slot


def known(words):
    def slot(g):
        w = g.pick(words)
        return w, w
    return slot


def with_article(lexicon):
    def slot(g):
        w = g.word(lexicon)
        return ("an " if w[0] in "aeiou" else "a ") + w, w
    return slot


def possessive(pick):
    def slot(g):
        w = pick(g)
        return w + ("'" if w.endswith("s") else "'s"), w
    return slot


def without_the(g):
    """ "some beatles" """
    w = g.pick(ARTISTS.train).removeprefix("the ")
    return w, w


def activity(g):
    w = g.word(ACTIVITIES)
    return w, w.removeprefix("a ").removeprefix("the ")


def percent(g):
    """ "forty percent" """
    n = g.number(1, 100) if g.held or g.chance(0.35) else g.number(5, 100, 5)
    if g.chance(0.3):
        return f"{n}%", n
    return f"{g.say_number(n)} {g.pick(['percent', 'percent', 'per cent'])}", n


def one_to_ten(g):
    n = g.between(1, 10)
    return g.say_number(n), n * 10


def level(g):
    """A number alone: up to ten it is on the scale of one to ten, above it per cent."""
    if g.chance(0.55):
        return one_to_ten(g)
    n = g.number(11, 100) if g.held or g.chance(0.4) else g.number(15, 100, 5)
    return g.say_number(n), n


def some_number(g):
    n = g.pick([1, 2, 3, 5, 10, 15, 20, 25])
    return g.say_number(n), n


def some_room(g):
    w = g.pick(ROOMS_OF_MUSIC)
    return w, w


SLOTS = {
    "title": of(TITLES), "artist": of(ARTISTS), "artists": possessive(lambda g: g.word(ARTISTS)), "album": of(ALBUMS), "genre": of(GENRES), "mood": of(MOODS), "amood": with_article(MOODS), "theme": of(THEMES), "agenre": with_article(GENRES),
    "activity": activity, "playlist": of(PLAYLISTS), "verb": known(VERBS), "decade": known(DECADES),
    "ktitle": known(KNOWN_TITLES), "ltitle": known([t for t in KNOWN_TITLES if len(t.split()) > 2]),
    "btitle": known([t for t in KNOWN_TITLES if len(t.split()) > 3]), "kartist": known(ARTISTS.train), "bare_artist": without_the, "lartist": known([a for a in ARTISTS.train if " " in a and a.split()[0] not in ("the",
    "new", "take", "bad")]), "kgenre": known(GENRES.train),
    "bgenre": known([x for x in GENRES.train if x not in ("house", "country", "trap", "soul", "jungle", "swing", "alternative", "ambient", "metal")]), "kalbum": known(KNOWN_ALBUMS),
    "pct": percent, "ten": one_to_ten, "lvl": level, "by": some_number, "where": some_room,
}
ARGUMENT_OF = {"title": ("title", "ktitle", "ltitle", "btitle"), "artist": ("artist", "artists", "kartist", "bare_artist", "lartist"), "album": ("album", "kalbum"),
               "genre": ("genre", "agenre", "kgenre", "bgenre", "mood", "amood", "theme", "activity", "verb", "decade"), "playlist": ("playlist",)}


def wanted(v):
    """The arguments of play_music that were said, in its order."""
    args = {}
    for name, keys in ARGUMENT_OF.items():
        for k in keys:
            if v.get(k) is not None:
                args[name] = v[k]
    return args


def play(v):
    return "play_music", wanted(v)


def capitals(s):
    return " ".join(w[:1].upper() + w[1:] for w in s.split())


def described(args):
    """ "Bohemian Rhapsody by Queen", "jazz music", "the Workout playlist" """
    by = f" by {capitals(args['artist'])}" if "artist" in args else ""
    if "title" in args:
        return capitals(args["title"]) + (f" from the album {capitals(args['album'])}" if "album" in args else "") + by
    if "album" in args:
        return f"the album {capitals(args['album'])}{by}"
    if "playlist" in args:
        return f"the {capitals(args['playlist'])} playlist"
    return (f"{args['genre']} " if "genre" in args else "") + f"music{by}"


def played(g, v, args):
    return {"error": "not in the library"} if args and g.chance(0.09) else {"ok": True}


def say_play(g, v, args, result):
    what = described(args)
    return f"{what[:1].upper()}{what[1:]} is {result['error']}." if "error" in result else f"Playing {what}."


def press(action):
    return lambda v: ("control_music", {"action": action})


def pressed(g, v, args):
    return {"error": "nothing is playing"} if g.chance(0.08) else {"ok": True}


DONE = {"pause": "Music paused.", "resume": "Music resumed.", "stop": "Music stopped.", "next": "Next song.", "previous": "Previous song.", "shuffle": "Shuffle is on.", "repeat": "Repeating this song."}


def say_pressed(g, v, args, result):
    return "Nothing is playing." if "error" in result else DONE[args["action"]]


def playing(g, v, args):
    return {"error": "nothing is playing"} if g.chance(0.1) else {"title": g.word(TITLES), "artist": g.word(ARTISTS)}


def say_playing(g, v, args, result):
    return "Nothing is playing." if "error" in result else f"This is {capitals(result['title'])} by {capitals(result['artist'])}."


def loudness(v):
    for k in ("level", "pct", "ten", "lvl"):
        if v.get(k) is not None:
            return "set_volume", {"level": v[k]}
    return "set_volume", {"change": v["change"]}


def volume(change):
    return lambda v: ("set_volume", {"change": change})


def volume_set(g, v, args):
    if args.get("change") in ("up", "down") and g.chance(0.08):
        return {"error": "already at maximum" if args["change"] == "up" else "already at minimum"}
    return {"ok": True}


def say_volume(g, v, args, result):
    if "error" in result:
        return f"The volume is {result['error']}."
    if "level" in args:
        return f"Volume set to {args['level']} percent."
    return {"up": "Volume up.", "down": "Volume down.", "mute": "Sound muted.", "unmute": "Sound back on."}[args["change"]]


def more_by_them(v):
    """The artist is in the call before, or in what get_music answered. (A conversation does not go on after an error.)"""
    artist = v["prev"]["args"].get("artist") or v["prev"]["result"]["artist"]
    return "play_music", {k: x for k, x in (("title", v.get("title")), ("artist", artist), ("album", v.get("album"))) if x is not None}


def title_before(v):
    return v["prev"]["args"]["title"]


# What a follow-up can come after.
BARE = ("music.title", "music.known", "music.by", "music.artist", "music.album", "music.genre", "music.playlist", "music.any", "music.place")
LATER = ("music.f.title", "music.f.artist", "music.f.genre", "music.f.playlist", "music.f.theirs", "music.f.more")
STEPS = ("music.next", "music.previous", "music.f.next", "music.f.previous", "music.resume", "music.f.resume", "music.repeat", "music.f.repeat")
ON = BARE + LATER + STEPS + ("music.shuffle", "music.f.shuffle")
VOLUMES = ("music.volume.level", "music.volume.up", "music.volume.down", "music.f.up", "music.f.down", "music.f.level", "music.f.further")
SOUND = ON + VOLUMES + ("music.what", "music.f.what")

INTENTS = [
    # "play X" without more is only learnt for names that are in the lists above: nothing in an unknown name tells a song from a singer.
    Intent(
        "music.known", weight=2.2,
        patterns=[
            "play {ktitle}", "play {ktitle}", "play me {ktitle}", "put on {ltitle}", "put {ltitle} on", "i want to hear {ktitle}", "i'd like to hear {ktitle}", "let me hear {ktitle}", "start {ltitle}", "listen to {ktitle}",
            "i want to listen to {ktitle}",
            "let's hear {ktitle}", "{btitle}", "can we (hear|have|listen to) {ktitle}", "could you play {ktitle}", "do you have {btitle}", "find {ltitle} and play it", "play {ktitle} (on|from) (spotify|youtube|my phone|my library)",
            "play {ktitle} (for me|for us|for my wife|for the kids|for mom)",
            "i feel like (hearing|listening to) {ltitle}", "how about {ltitle}", "let's listen to {ktitle}", "give me {ltitle}", "we want to hear {ktitle}", "turn on {ltitle}", "{btitle} please play it", "my favorite song is {ktitle} play it",
            "play {ktitle} from {kartist}",
            "play {kartist}", "play {kartist}", "play some {bare_artist}", "play me some {bare_artist}", "put on {kartist}", "put on some {bare_artist}", "put some {bare_artist} on", "i want to hear {kartist}", "i want to hear some {bare_artist}",
            "i'd like to hear some {bare_artist}",
            "i want to listen to {kartist}", "let's listen to {kartist}", "let me hear {kartist}", "let's hear some {bare_artist}", "{lartist}", "{kartist} music", "play {kartist} music", "play some {bare_artist} music", "{kartist} songs",
            "play {kartist} songs", "play a {bare_artist} song", "some {bare_artist} please",
            "play some {bare_artist} songs", "i'm in the mood for {kartist}", "i'm in the mood for some {bare_artist}", "i feel like {lartist}", "i feel like listening to {kartist}", "how about some {bare_artist}", "give me some {bare_artist}",
            "start playing {kartist}", "shuffle {kartist}", "listen to {kartist}",
            "we want to hear {kartist}", "do you have any {bare_artist}", "play {kartist} (on|from) (spotify|youtube|my phone|my library)", "turn on some {bare_artist}", "put {kartist} on", "play all my {bare_artist} songs",
            "play {kalbum}", "put on {kalbum}", "i want to hear {kalbum}", "i want to listen to {kalbum}", "listen to {kalbum}", "put {kalbum} on",
            "play {kgenre}", "play {kgenre}", "play some {kgenre}", "put on some {kgenre}", "put on {kgenre}", "i want to hear some {kgenre}", "i'd like some {kgenre}", "let's hear some {kgenre}", "{bgenre}", "some {kgenre}", "{kgenre} please",
            "i'm in the mood for {kgenre}", "i'm in the mood for some {kgenre}",
            "i feel like {kgenre}", "i feel like some {kgenre} tonight", "how about some {kgenre}", "give me some {kgenre}", "start some {kgenre}", "listen to {kgenre}", "i want to listen to {kgenre}", "a bit of {kgenre}", "a little {kgenre}",
            "a little bit of {kgenre} would be nice", "some {kgenre} would be nice",
            "play me some good {kgenre}", "we need some {kgenre}", "turn on some {kgenre}", "put some {kgenre} on", "do you have any {kgenre}", "can we have some {kgenre}", "let's have some {kgenre}",
            "play {kgenre} (on|from) (spotify|youtube|my phone)",
        ],
        held=["would love to hear {ktitle} now", "may we have {ktitle} on now", "get {ltitle} going", "{ktitle} is what i want to hear", "nothing but {kartist} tonight", "let us have some {bare_artist}", "{kartist} is what i want to listen to",
              "some {bare_artist} on the speakers",
              "a bit of {bare_artist} would be great", "time for some {kgenre}", "get some {kgenre} going", "nothing but {kgenre} tonight", "we could do with some {kgenre}", "let there be {kgenre}"],
        slots=SLOTS, call=play, result=played, say=say_play),
    Intent(
        "music.title", weight=1.6,
        patterns=[
            "play the (song|track|tune|single) {title}", "play the song (called|named|titled) {title}", "play a song (called|named) {title}", "play me the song {title}", "put on the (song|track|tune) {title}", "i want to hear the song {title}",
            "i'd like to hear the song {title}", "let me hear the song {title}",
            "play the song that's called {title}", "the song {title}", "song {title}", "track {title}", "a song called {title}", "find the song {title}", "find and play the song {title}", "search for the song {title}",
            "look for the song {title} and play it", "can we hear the song {title}", "do you know the song {title} play it",
            "play that song {title}", "play that song called {title}", "there's a song called {title} play it", "there is this song {title} can you play it", "i love the song {title} play it", "start the song {title}",
            "i want to listen to the song {title}", "let's listen to the song {title}", "could i hear the track {title}",
            "play my favorite song {title}", "play our song {title}", "it's called {title} play it", "i need to hear the song {title}", "the kids want to hear the song {title}", "my daughter wants the song {title}", "how about the song {title}",
            "play the title {title}", "play the old song {title}", "the tune called {title}",
            "play the song {title} (on|from) (spotify|youtube|my phone|my library)", "play the song {title} for (me|us|the kids|my wife|mom)", "would you play the song {title} for us", "put that song {title} on",
            "i'm looking for a song called {title}", "play the track with the name {title}", "song title {title}",
            "play the song {title} from the album {album}", "play {title} (from|off) the album {album}", "i want to hear {title} from the album {album}", "the song {title} (from|off|on) the album {album}", "put on {title} from the album {album}",
            "play the track {title} off the album {album}", "play {title} which is on the album {album}",
        ],
        held=["get the song {title} going", "is there a song named {title} that you could play", "let us have the song {title}", "make the next thing we hear the song {title}", "the one that goes by the name {title} play that song",
              "let the song {title} play", "{title} is the song i want to hear", "from the album {album} play {title}",
              "you know that track {title} i'd like to hear it"],
        slots=SLOTS, call=play, result=played, say=say_play),
    Intent(
        "music.by", weight=2.6,
        patterns=[
            "play {title} by {artist}", "play {title} by {artist}", "play {title} by {artist}", "play the (song|track|tune) {title} by {artist}", "play me {title} by {artist}", "put on {title} by {artist}", "put {title} by {artist} on",
            "i want to hear {title} by {artist}", "i'd like to hear {title} by {artist}", "let me hear {title} by {artist}",
            "{title} by {artist}", "{title} by {artist} please", "start {title} by {artist}", "listen to {title} by {artist}", "i want to listen to {title} by {artist}", "let's hear {title} by {artist}", "let's listen to {title} by {artist}",
            "can we (hear|have|listen to) {title} by {artist}", "could you put on {title} by {artist}",
            "do you have {title} by {artist}", "find {title} by {artist}", "search for {title} by {artist}", "look up {title} by {artist} and play it", "play the song called {title} by {artist}", "a song called {title} by {artist}",
            "the song {title} by {artist}", "song {title} artist {artist}", "artist {artist} song {title}",
            "play {artists} {title}", "put on {artists} {title}", "play {artists} song {title}", "i want to hear {artists} {title}", "play {artists} version of {title}", "play {artists} hit {title}", "play the {artist} version of {title}",
            "play the version of {title} by {artist}", "play {title} in the version by {artist}",
            "by {artist} play {title}", "by {artist} the song {title}", "play {title} performed by {artist}", "play {title} sung by {artist}", "play {title} from the (artist|band|singer) {artist}",
            "play {title} by the (band|group|singer|artist) {artist}", "play {title} by {artist} (on|from) (spotify|youtube|my phone|my library)",
            "play {title} by {artist} for (me|us|the kids|my wife|mom)", "give me {title} by {artist}", "i need {title} by {artist}", "i love {title} by {artist} play it", "i feel like (hearing|listening to) {title} by {artist}",
            "how about {title} by {artist}", "we want to hear {title} by {artist}", "turn on {title} by {artist}",
            "is it possible to hear {title} by {artist}", "my favorite song is {title} by {artist} play it", "there's a song by {artist} called {title} play it", "play a song by {artist} called {title}", "play that song by {artist} called {title}",
            "play that {artist} song called {title}", "the {artist} song called {title}",
            "play the song {title} by {artist} from the album {album}", "play {title} by {artist} from the album {album}", "play {title} from the album {album} by {artist}", "start playing {title} by {artist}", "queue up {title} by {artist}",
            "play {title} it's by {artist}", "play {title} the one by {artist}", "play {title} that {artist} sings",
            "i'm in the mood for {title} by {artist}", "may i hear {title} by {artist}", "can i hear {title} by {artist}", "play {ktitle} by {kartist}", "play {ktitle} {kartist}",
        ],
        held=["get {title} by {artist} going", "let us have {title} by {artist}", "would love to hear {title} by {artist}", "may we have {title} by {artist} on", "let {title} by {artist} play", "what i want to hear is {title} by {artist}",
              "{title} with {artist} singing please", "the track {title} as performed by {artist}",
              "{title} is the song i want it's by {artist}", "of {artist} i want the song {title}", "search {artists} songs for {title} and play it", "you know {title} by {artist} play that", "time for {title} by {artist}"],
        slots=SLOTS, call=play, result=played, say=say_play),
    Intent(
        "music.artist", weight=2.2,
        patterns=[
            "play (music|songs|something|a song|some music|some songs|anything|a track|tracks|tunes|some tunes|stuff|hits|the best songs|the hits|the greatest songs|all songs|everything) by {artist}",
            "play me (something|a song|music|some music|some songs) by {artist}", "play (music|songs|something|some music|a song) from {artist}",
            "put on (something|some music|a song|music|some songs|songs) (by|from) {artist}", "i want to hear (something|a song|some music|music|some songs|songs|anything) by {artist}", "i'd like to hear (something|some music|a song) by {artist}",
            "let me hear (something|a song|some music) by {artist}",
            "play the (artist|band|singer|group|musician|composer|rapper) {artist}", "put on the (band|artist|singer|group) {artist}", "i want to hear the (band|artist|singer|group) {artist}",
            "play (songs|music|something) by the (band|artist|singer|group) {artist}", "play songs of {artist}", "play music of {artist}", "play the music of {artist}",
            "(music|songs|something|a song|anything|tunes) by {artist}", "some (music|songs|tunes) by {artist}", "artist {artist}", "the (band|singer|artist) {artist}", "play {artists} (music|songs|best songs|hits|stuff|biggest hits)",
            "{artists} (songs|music|best songs)", "i want to hear {artists} (music|songs|best songs)",
            "put on {artists} (music|songs|stuff)", "play the best of {artist}", "the best of {artist}", "put on the best of {artist}", "play a random song by {artist}", "play any song by {artist}",
            "play the (new|latest|newest|last|first|most popular|biggest) (song|album|single|hit|record) by {artist}", "play {artists} (new|latest|newest) (song|album|single|record)",
            "find (songs|music|something|some songs) by {artist}", "search for (music|songs) by {artist}", "do you have (anything|something|songs|any songs|music) by {artist}", "i'm in the mood for (something|some music|music|a song) by {artist}",
            "i feel like (listening to|hearing) something by {artist}", "i want to listen to (music|something|songs|some songs) by {artist}",
            "let's (listen to|hear) (something|some music|a song|some songs) by {artist}", "can we (hear|listen to) (something|a song|some music) by {artist}", "how about (something|some music|a song) by {artist}",
            "give me (something|some songs|a song|some music) by {artist}", "start playing (songs|music|something) by {artist}", "shuffle songs by {artist}",
            "shuffle (the music of|music by) {artist}", "play whatever you have by {artist}", "play everything from {artist}", "we want to hear something by {artist}", "my favorite band is {artist} play something by them",
            "i love {artist} play one of their songs", "i'm a fan of {artist} play something by them", "play an album by {artist}", "play one of {artists} songs",
            "play one of the songs by {artist}", "any song by {artist}", "an album by {artist}", "turn on some music by {artist}", "play (songs|music|something) by {artist} (on|from) (spotify|youtube|my phone|my library)", "play me one by {artist}",
            "put on a record by {artist}", "i want songs by {artist}", "a {artist} song please", "play songs sung by {artist}",
            "play something that {artist} sings", "play {agenre} song by {artist}", "play some {genre} by {artist}", "play some {genre} music by {artist}", "play {mood} songs by {artist}", "play {amood} song by {artist}",
            "play something {mood} by {artist}", "put on something {mood} by {artist}", "play {mood} music by {artist}", "some {genre} music by {artist}",
        ],
        held=["get some songs by {artist} going", "let us have something by {artist}", "would love to hear some music by {artist}", "by {artist} please play any song", "is there any music from {artist}", "let the band {artist} play",
              "have {artist} singing for us", "time for a song by {artist}", "choose a song by {artist}", "surprise me with something by {artist}",
              "what i want to hear is music by {artist}", "i could listen to songs by {artist} over and over", "one of the many hits by {artist}"],
        slots=SLOTS, call=play, result=played, say=say_play),
    Intent(
        "music.album", weight=1.3,
        patterns=[
            "play the (album|record|lp) {album}", "play the album {album} by {artist}", "play the album {album} by {artist}", "play the album (called|named|titled) {album}", "play an album called {album}", "play {album} the album",
            "put on the (album|record) {album}", "put on the (album|record) {album} by {artist}", "play me the album {album}",
            "play me the album {album} by {artist}", "i want to hear the album {album}", "i want to hear the album {album} by {artist}", "i'd like to hear the album {album}", "i'd like to listen to the album {album} by {artist}",
            "let me hear the album {album}", "the album {album}", "the album {album} by {artist}", "album {album}", "album {album} by {artist}",
            "{album} the album", "{album} the album by {artist}", "start the album {album}", "start the album {album} by {artist}", "listen to the album {album}", "listen to the album {album} by {artist}", "let's listen to the album {album}",
            "play {artists} album {album}", "put on {artists} album {album}", "i want to hear {artists} album {album}",
            "{artists} album {album}", "play the whole album {album}", "play the whole album {album} by {artist}", "play the entire album {album}", "play the full album {album} by {artist}", "play all of the album {album}",
            "play all songs (from|on|of) the album {album}", "play (a song|something|songs|music|a track|the songs) (from|off) the album {album}",
            "play something from the album {album} by {artist}", "play songs from the album {album} by {artist}", "find the album {album}", "find the album {album} by {artist}", "search for the album {album}", "do you have the album {album}",
            "do you have the album {album} by {artist}", "can we hear the album {album}", "how about the album {album}",
            "shuffle the album {album}", "shuffle the album {album} by {artist}", "play the album {album} from the beginning", "play the record {album} by {artist}", "the record {album} by {artist}", "spin the record {album}",
            "spin the album {album} by {artist}", "play the soundtrack {album}", "give me the album {album} by {artist}", "i love the album {album} play it",
            "play the {album} album", "put on the {album} album", "the {album} album", "play the {album} album by {artist}", "play the album {album} (on|from) (spotify|youtube|my phone|my library)",
            "i feel like (hearing|listening to) the album {album}", "by {artist} the album {album}", "by {artist} play the album {album}",
        ],
        held=["get the album {album} going", "let us have the album {album} by {artist}", "would love to hear the whole record {album}", "{album} is the album i want to hear", "{album} is the album i want it's by {artist}",
              "let the album {album} play", "from {artist} i want the album {album}", "time for the album {album}"],
        slots=SLOTS, call=play, result=played, say=say_play),
    Intent(
        "music.genre", weight=2.6,
        patterns=[
            "play {genre} music", "play some {genre} music", "play (some|a few) {genre} (songs|tunes|tracks)", "play {genre} (songs|tunes|tracks)", "play {agenre} song", "put on {genre} music", "put on some {genre} music",
            "put some {genre} music on", "i want to hear {genre} music", "i want to hear some {genre} music", "i'd like (some|to hear) {genre} music",
            "{genre} music", "{genre} music please", "some {genre} music", "let's hear some {genre} music", "let's listen to {genre} music", "i'm in the mood for {genre} music", "i'm in the mood for some {genre} songs", "give me some {genre} music",
            "start {genre} music", "music genre {genre}", "genre {genre}", "play the genre {genre}", "play music of the genre {genre}",
            "turn on some {genre} music", "turn on {genre} music", "listen to {genre} music", "i want to listen to {genre} music", "how about some {genre} music", "do you have any {genre} music", "do you have {genre} music",
            "find me some {genre} music", "i feel like {genre} music", "i feel like listening to {genre} music", "can we have some {genre} music",
            "some {genre} music would be nice", "a bit of {genre} music", "play (good|the best|classic|famous|popular) {genre} music", "shuffle some {genre} music", "play a random {genre} song", "play {genre} hits", "play the best {genre} songs",
            "play {genre} music (on|from) (spotify|youtube|my phone|my library)", "we want {genre} music", "i need some {genre} music",
            "play something {mood}", "play me something {mood}", "put on something {mood}", "put something {mood} on", "i want to hear something {mood}", "i'd like something {mood}", "i need something {mood}", "something {mood}",
            "something {mood} please", "let's hear something {mood}", "i'm in the mood for something {mood}", "i feel like something {mood}",
            "give me something {mood}", "how about something {mood}", "find me something {mood}", "play {mood} music", "play some {mood} music", "play (some|a few) {mood} (songs|tunes)", "play {mood} songs", "play {amood} song",
            "play me {amood} song", "put on some {mood} music", "put on {mood} music", "{mood} music", "some {mood} music", "{mood} songs",
            "i want some {mood} music", "i need some {mood} music", "let's have some {mood} music", "we want {mood} music", "music that is {mood}", "play music that's {mood}", "play a song that is {mood}", "can we have something {mood}",
            "play something a bit {mood}", "play something really {mood}", "turn on something {mood}", "turn on some {mood} music",
            "play {theme} music", "play some {theme} music", "play {theme} songs", "play some {theme} songs", "put on some {theme} music", "put on {theme} music", "put on {theme} songs", "{theme} music", "{theme} songs", "some {theme} music",
            "i want to hear {theme} songs", "i want to hear some {theme} music", "let's hear some {theme} music",
            "let's listen to {theme} songs", "i'm in the mood for {theme} music", "give me some {theme} songs", "turn on {theme} music", "turn on the {theme} music", "we need some {theme} music", "start the {theme} music",
            "do you have any {theme} songs", "the kids want {theme} songs", "it's time for {theme} music", "how about some {theme} songs",
            "play (music|songs|something|some music|some songs) for {activity}", "put on (music|songs|something|some music) for {activity}", "i need (music|some music|something|songs|some songs) for {activity}",
            "(music|songs|something|some music) for {activity}", "i want (music|some songs|something) for {activity}", "give me some music for {activity}",
            "play (something|music|songs|tunes) that's good for {activity}", "find some music for {activity}", "what about some music for {activity}", "play good music for {activity}", "can we have some music for {activity}",
            "let's have some music for {activity}", "play the right music for {activity}", "play me something for {activity}",
            "play (something|music|songs|some music|some songs) to {verb} to", "put on (something|music|some music) to {verb} to", "i (need|want) (something|music|some music) to {verb} to", "(music|songs|something) to {verb} to",
            "give me something to {verb} to", "play something i can {verb} to", "play music we can {verb} to",
            "play {decade} music", "play some {decade} music", "play (music|songs|something|hits|some music) from the {decade}", "put on (something|music|songs|some music) from the {decade}", "put on {decade} music", "{decade} music",
            "{decade} hits", "play the {decade}", "play {decade} hits", "play the best of the {decade}", "i want to hear {decade} music",
            "i want to hear (something|music|songs) from the {decade}", "(music|songs|hits|something) from the {decade}", "some {decade} music", "i'm in the mood for {decade} music", "let's go back to the {decade}", "give me some {decade} songs",
            "play {decade} songs", "play something out of the {decade}", "turn on some {decade} music",
        ],
        held=["get some {genre} music going", "we could do with some {genre} music", "let there be {genre} music", "nothing but {genre} music tonight", "time for some {mood} tunes", "let us have something {mood}",
              "make it something {mood} to listen to", "let {theme} music play in here", "get the {theme} songs going", "would love some {theme} music",
              "choose something good for {activity}", "what i need is music for {activity}", "which songs do you have for {activity} play them", "let's have a song to {verb} to", "take us back to the {decade}", "nothing but songs from the {decade}",
              "i could use something {mood} to hear"],
        slots=SLOTS, call=play, result=played, say=say_play),
    Intent(
        "music.playlist", weight=1.7,
        patterns=[
            "play (my|the|our) {playlist} playlist", "play (my|the|our) {playlist} playlist", "play {playlist} playlist", "play (my|the) playlist {playlist}", "play (my|the|a) playlist (called|named|titled) {playlist}",
            "put on (my|the|our) {playlist} playlist", "put on (my|the) playlist {playlist}", "put (my|the) {playlist} playlist on", "start (my|the|our) {playlist} playlist",
            "start (my|the) playlist {playlist}", "start playlist {playlist}", "(my|the) {playlist} playlist", "{playlist} playlist", "playlist {playlist}", "the playlist called {playlist}", "my playlist called {playlist}",
            "i want to hear (my|the|our) {playlist} playlist", "i'd like to hear (my|the) {playlist} playlist", "i want to listen to (my|the) {playlist} playlist",
            "let me hear my {playlist} playlist", "let's (hear|listen to) (my|the|our) {playlist} playlist", "listen to (my|the) {playlist} playlist", "open (my|the) {playlist} playlist", "open the playlist {playlist}", "run my {playlist} playlist",
            "turn on (my|the) {playlist} playlist", "turn my {playlist} playlist on", "shuffle (my|the|our) {playlist} playlist",
            "shuffle the playlist {playlist}", "shuffle my playlist called {playlist}", "play (my|the) {playlist} mix", "put on (my|the) {playlist} mix", "start the {playlist} mix",
            "play (something|a song|songs|music|some songs|some music) from (my|the|our) {playlist} playlist", "play songs from the playlist {playlist}", "play songs on my {playlist} playlist",
            "play music from the playlist called {playlist}", "switch to (my|the) {playlist} playlist", "switch to the playlist {playlist}", "change to my {playlist} playlist", "go to my {playlist} playlist", "load (my|the) {playlist} playlist",
            "load playlist {playlist}", "find my {playlist} playlist", "find the playlist {playlist} and play it", "begin my {playlist} playlist",
            "i have a playlist called {playlist} play it", "i made a playlist called {playlist} play that", "there's a playlist named {playlist} play it", "can we have the {playlist} playlist", "how about my {playlist} playlist",
            "it's time for my {playlist} playlist", "i need my {playlist} playlist", "give me my {playlist} playlist", "i'm in the mood for my {playlist} playlist",
            "play all the songs from my {playlist} playlist", "play everything on my {playlist} playlist", "play my {playlist} playlist from the beginning", "play my {playlist} playlist (on|from) (spotify|youtube|my phone)",
            "do you have my {playlist} playlist", "play the list of songs called {playlist}", "choose my {playlist} playlist", "pick the {playlist} playlist",
            "play my favorites => playlist=favorites", "play my favorite songs => playlist=favorite songs", "play my liked songs => playlist=liked songs", "put on my favorite songs => playlist=favorite songs",
            "put on my favorites => playlist=favorites", "play songs i like => playlist=liked songs", "play the songs i liked => playlist=liked songs", "play my favorite music => playlist=favorite music",
        ],
        held=["get my {playlist} playlist going", "the songs of my {playlist} playlist please", "would love to hear my {playlist} playlist", "what i want to hear is my {playlist} playlist", "let my {playlist} playlist play",
              "let the playlist {playlist} run", "of all my music play the {playlist} playlist", "time for the {playlist} playlist", "my playlist with the name {playlist} please",
              "have my {playlist} playlist playing"],
        slots=SLOTS, call=play, result=played, say=say_play),
    Intent(
        "music.any", weight=1.2,
        patterns=[
            "play music", "play some music", "play some music", "play something", "play anything", "play me something", "play a song", "play me a song", "play some songs", "play some tunes", "play us some music", "play any song", "play any music",
            "play whatever you like", "play what you want", "play whatever", "play my music", "play my playlist", "play songs", "play",
            "put on some music", "put some music on", "put music on", "put on music", "put on a song", "put on some tunes", "put something on", "put on something", "put on anything you like", "start music", "start the music", "start playing music",
            "start playing some music", "start playing", "start some music", "begin the music", "turn on some music", "turn on the music", "turn on music",
            "turn the music on", "switch the music on", "switch on the music", "switch on some music", "music", "music please", "some music", "some music please", "some tunes", "some songs please", "music on", "a song please", "a little music",
            "a bit of music", "background music please => genre=background", "i want music", "i want some music", "i want to hear music", "i want to hear some music",
            "i want to hear something", "i want to hear a song", "i want to listen to music", "i want to listen to something", "i'd like some music", "i'd like to hear some music", "i'd like to listen to music", "i'd like to listen to some music",
            "i need music", "i need some music", "we need music", "we need some music in here", "we want music", "let's have some music", "let's hear some music",
            "let's listen to music", "let's listen to something", "let me hear some music", "let me hear something", "give me music", "give me some music", "give us some tunes", "can we have some music", "can we have music", "can i have some music",
            "can i hear some music", "could we have a song", "is there any music", "how about some music", "how about a song", "what about some music",
            "some music would be nice", "a little music would be nice", "music would be great", "it's too quiet in here play something", "i'm bored play something", "it's boring without music", "surprise me with a song",
            "surprise me with some music", "pick a song", "pick something to play", "pick some music for me", "choose a song", "choose some music", "play a random song", "play random music",
            "play something random", "play something nice", "play something good", "play some good music", "play a nice song", "play a good song", "play some nice music", "got any music", "any music", "i feel like music",
            "i feel like listening to music", "i feel like listening to something", "i'm in the mood for music", "i'm in the mood for some music", "time for some music", "it's time for music",
            "do you have music", "do you have any songs", "hit me with some music", "music time", "i wanna hear some music", "i wanna listen to music", "wanna hear music", "play me some music", "play music for us", "play us a tune", "play a tune",
            "listen to music",
        ],
        held=["get some music going", "let there be music", "we could do with some music", "let music play in here", "what i need is a song", "it's so quiet without music", "would love some music", "have some music playing",
              "whatever music you like", "let us have a song"],
        slots=SLOTS, call=play, result=played, say=say_play),
    # There is one player: where it shall sound, or from which service, is not an argument.
    Intent(
        "music.place", weight=0.6,
        patterns=[
            "play (music|some music|something) (in|for) the {where}", "play some {kgenre} in the {where}", "play {genre} music in the {where}", "play {title} by {artist} in the {where}", "play music by {artist} in the {where}",
            "play something {mood} in the {where}", "put on some {genre} music in the {where}", "put some music on in the {where}", "play my {playlist} playlist in the {where}",
            "play the album {album} in the {where}", "music in the {where}", "{genre} music in the {where}", "i want music in the {where}", "turn on the music in the {where}", "play the song {title} in the {where}",
            "play {theme} music in the {where}", "in the {where} play some {genre} music", "in the {where} play {title} by {artist}", "play {title} by {artist} on the {where} speaker",
            "play music on the {where} speaker", "play some {kgenre} on the {where} speakers", "play music (on|from) (spotify|youtube|my phone|the stereo|the speaker|the speakers)", "play music everywhere", "play {kartist} in the {where}",
            "play {genre} music everywhere", "play some {kgenre} on the (stereo|speaker|speakers)", "play something by {artist} on the {where} speaker",
        ],
        held=["let the {where} speakers play {genre} music", "get some music going in the {where}", "the {where} needs some music", "i want the song {title} playing in the {where}"],
        slots=SLOTS, call=play, result=played, say=say_play),

    Intent(
        "music.next", weight=1.3,
        patterns=[
            "next", "next song", "next track", "next one", "next tune", "next please", "the next one", "the next song", "skip", "skip this", "skip this song", "skip this track", "skip this one", "skip the song", "skip song", "skip track", "skip it",
            "skip to the next (song|track|one)", "skip ahead", "skip forward", "play the next (song|track|one)", "play next", "play next song", "play something else",
            "play something different", "play another song", "play another one", "play another track", "play a different song", "play a different one", "put on something else", "put on another song", "put on a different song",
            "put something else on", "i want to hear something else", "i want a different song", "i want another song", "i want the next song", "another song", "another song please",
            "a different song", "a different song please", "(go|move|jump) to the next (song|track|one)", "go forward", "go forward one song", "one song forward", "forward", "forward one", "move on to the next song", "change the song", "change song",
            "change the track", "change the music", "change this song", "change it to another song", "switch the song", "switch to the next song", "switch to another song",
            "i don't like this", "i don't like this one", "i don't like this song", "i don't like this music", "i don't like the song", "i don't want to hear this", "i don't want to hear this song", "i don't want this song", "i hate this song",
            "i hate this one", "i can't stand this song", "not this song", "not this one", "not this song again", "not that song", "no not this one next",
            "this song is boring", "this song is terrible", "this song sucks", "this song is awful", "this is boring", "this is a bad song", "i'm tired of this song", "i'm sick of this song", "i'm bored of this song", "i've heard this too often",
            "i've heard this song too many times", "enough of this song", "we've had this song already", "wrong song", "can we have another song", "can we hear something else",
            "can we skip this", "how about another song", "how about something else", "let's hear something else", "let's hear the next one", "let's skip this one", "get to the next song", "bring on the next song", "pass on this song",
            "track forward", "song forward", "skip this track please it's boring", "jump ahead",
        ],
        held=["away with this song", "take this song off and go on to another", "let the next song play", "anything but this song", "i've had enough of this one", "who wants this song skip it", "onto the next song", "get rid of this song",
              "move along to another track", "this one isn't for me"],
        slots=SLOTS, call=press("next"), result=pressed, say=say_pressed),
    Intent(
        "music.previous", weight=0.7,
        patterns=[
            "previous", "previous song", "previous track", "previous one", "the previous song", "the previous song please", "last song", "last track", "the last song again", "go back", "go back one", "go back one song", "go back a song",
            "go back to the (previous|last) (song|track|one)", "go back to the song before", "back one song", "one song back", "one back", "track back", "song back", "skip back",
            "skip backwards", "play the (previous|last) (song|track|one)", "play the previous song again", "play the song before this [one]", "play the one before", "play the one before this", "play what was on before", "the song before",
            "the song before this one", "the one before this", "the track before", "i want the previous song", "i want to hear the previous song", "i want to hear the last song again",
            "i want the song before this one", "i liked the one before", "i liked the last song", "i liked the previous song better", "return to the previous song", "return to the last track", "jump back", "jump back to the previous song",
            "jump back one track", "move back one song", "switch back to the previous song", "take me back to the last song", "put the last song back on", "put the previous song on again",
            "rewind to the previous song", "back to the previous song", "back to the last one", "bring back the last song", "bring back the previous one", "let's hear the last one again", "can we have the last song again",
            "can we go back to the song before",
        ],
        held=["back up to the song before", "get the last song back", "one track backwards", "i'd rather have the song before this one", "the one we had before please"],
        slots=SLOTS, call=press("previous"), result=pressed, say=say_pressed),
    Intent(
        "music.pause", weight=1.1,
        patterns=[
            "pause", "pause please", "pause the (music|song|track|player|playback|sound|tune|album|playlist)", "pause music", "pause song", "pause this", "pause this song", "pause that song", "pause playback",
            "pause the music for a (moment|minute|second|bit)", "pause for a (moment|minute|second|bit)", "music pause", "music on pause", "put the music on (pause|hold)", "put the song on (pause|hold)", "put it on pause",
            "hold the music", "hold the song", "hold the music for a (moment|minute|second)", "hold that song", "freeze the music", "halt the music", "suspend the music", "stop the music for a (moment|minute|second|bit)",
            "stop playing for a (moment|minute|second)", "stop the song for a moment", "interrupt the music", "interrupt the song for a moment", "take a break from the music", "give the music a break",
            "hit pause", "press pause", "someone is at the door pause the music", "the phone is ringing pause the music", "i have a call pause the music", "i need to take a call pause the song", "pause what's playing", "pause whatever is playing",
            "pause everything", "can we pause the music", "let's pause the music", "i want to pause the music", "i need you to pause the song", "wait pause the music", "time out pause the song",
            "make the music wait", "let the music wait", "quick pause", "short pause", "pause the player", "pause my music", "pause my playlist",
        ],
        held=["the music should wait a moment", "let the song rest for a minute", "i need the music on hold", "music on hold for a bit", "hold this song for a second"],
        slots=SLOTS, call=press("pause"), result=pressed, say=say_pressed),
    Intent(
        "music.resume", weight=0.9,
        patterns=[
            "resume", "resume please", "continue", "continue please", "resume the (music|song|track|player|playback|album|playlist)", "resume music", "resume playing", "resume playback", "continue the (music|song|track|playback|album|playlist)",
            "continue music", "continue playing", "continue with the music", "continue with the song", "unpause", "unpause the (music|song|player)", "unpause music", "un pause the music",
            "go on with the (music|song|playlist|album)", "go on playing", "carry on with the (music|song|playlist)", "carry on playing", "keep playing", "keep the music going", "keep the music playing", "keep going with the music", "play on",
            "start the music again", "start the song again where it stopped", "start playing again", "turn the music back on", "turn the music on again", "turn the song back on",
            "put the music back on", "put the song back on", "bring the music back", "bring back the music", "music back on", "music again", "music go on", "let the music (continue|go on|play on)", "let the song (continue|go on)", "let it play on",
            "press play", "hit play", "press play again", "play again where you stopped", "play from where you stopped", "play from where we left off", "pick up where you left off",
            "pick up where we left off with the music", "continue where you left off", "continue where we stopped", "i want to hear the rest of the song", "play the rest of the song", "play the rest", "take the music off pause",
            "take the music off hold", "end the pause", "you can play again", "you can continue the music", "you can go on playing", "you may continue playing", "i'm back continue the music",
            "i'm off the phone continue the music", "continue my music", "resume my playlist", "return to the music", "back to the music", "get back to the music", "i didn't say stop continue the music",
        ],
        held=["get the music going again", "have the song continue", "now let's go on with the song", "the music can go on now", "i want the music back", "let me hear the rest of it"],
        slots=SLOTS, call=press("resume"), result=pressed, say=say_pressed),
    Intent(
        "music.stop", weight=1.3,
        patterns=[
            "stop", "stop please", "stop the (music|song|track|player|playback|tune|album|playlist|noise|singing|concert)", "stop music", "stop playing", "stop playing music", "stop playing this", "stop this", "stop this song", "stop this music",
            "stop that music", "stop that noise", "stop that song", "stop singing", "stop playback", "music stop", "music off", "no music", "no more music", "no music please",
            "turn off the (music|song|player|stereo)", "turn the (music|song|player|stereo) off", "turn off music", "turn that music off", "turn this music off", "turn off this song", "turn that noise off", "turn off that noise",
            "switch off the music", "switch the music off", "shut off the music", "shut the music off", "shut the music down", "cut the music", "kill the music", "kill the song", "end the music", "end the song",
            "end playback", "quit the music", "quit playing", "cancel the music", "silence", "silence please", "be quiet", "be silent", "quiet", "shut up", "shut it", "hush", "shush", "zip it", "enough music", "enough", "enough of the music",
            "that's enough music", "enough music for today", "i've had enough music", "i don't want music", "i don't want any music", "i don't want to hear music anymore", "i don't want any more music",
            "i'm done listening", "i'm done with the music", "we're done with the music", "i want silence", "i want quiet", "i need silence", "i need quiet now", "i need some peace and quiet", "can we have some silence", "can you stop playing",
            "make it stop", "make the music stop", "the music is annoying stop it", "this music is annoying turn it off", "please make that noise stop", "the party is over stop the music",
            "we want to sleep turn off the music", "i want to sleep stop the music", "close the player", "close the music", "stop everything you're playing", "stop my playlist", "you can stop the music now", "you can turn the music off",
            "that's all stop the music", "stop it with the music",
        ],
        held=["away with the music", "get rid of the music", "the music can go off now", "let's end the music here", "have the music off", "i want the music gone", "no more songs please", "let there be silence", "i'd like some silence now",
              "off with the music"],
        slots=SLOTS, call=press("stop"), result=pressed, say=say_pressed),
    Intent(
        "music.shuffle", weight=0.8,
        patterns=[
            "shuffle", "shuffle please", "shuffle the (music|songs|playlist|album|queue|tracks)", "shuffle music", "shuffle my music", "shuffle my songs", "shuffle songs", "shuffle this", "shuffle this playlist", "shuffle this album",
            "shuffle all songs", "shuffle everything", "shuffle on", "shuffle mode", "shuffle mode on", "shuffle mode please", "shuffle play", "turn on shuffle", "turn shuffle on", "turn on shuffle mode",
            "switch on shuffle", "switch to shuffle", "switch shuffle on", "enable shuffle", "activate shuffle", "set it to shuffle", "set the music to shuffle", "put it on shuffle", "put the music on shuffle", "put my music on shuffle",
            "put the playlist on shuffle", "put this album on shuffle", "play on shuffle", "play it on shuffle", "play the songs on shuffle", "play in random order", "play the songs in random order",
            "play the playlist in random order", "play this in a random order", "play songs randomly", "play them randomly", "play the music randomly", "random", "random order", "random order please", "random mode", "mix it up", "mix the songs",
            "mix up the songs", "mix up the music", "mix the music", "mix the playlist", "mix the order", "change the order of the songs", "i want the songs in random order", "i want shuffle on", "i want random order",
            "not always the same order", "don't play them in order", "don't play the songs in order", "jumble the songs", "jumble up the playlist", "make it random", "make the order random", "randomize the songs", "randomize the playlist",
            "randomize",
        ],
        held=["let the order be random", "have the songs on shuffle", "the songs should play in random order", "mix the tracks up", "i'd like it on shuffle", "any order of songs will do"],
        slots=SLOTS, call=press("shuffle"), result=pressed, say=say_pressed),
    Intent(
        "music.repeat", weight=0.8,
        patterns=[
            "repeat", "repeat this", "repeat this song", "repeat the song", "repeat this track", "repeat the track", "repeat song", "repeat mode", "repeat on", "repeat this one", "repeat this song please", "repeat this tune", "play that again",
            "play this again", "play this song again", "play that song again", "play the song again", "play it again", "play it once more", "play it one more time", "play that one more time", "play this one again",
            "play this song one more time", "play the same song again", "play the same song", "the same song again", "the same again", "same song again", "this song again", "that song again", "again", "again please", "once again", "once more",
            "one more time", "one more time please", "i want to hear this again", "i want to hear that again", "i want to hear this song again", "i want to hear it again", "i'd like to hear that song again",
            "let me hear that again", "let me hear this song again", "let's hear that again", "let's hear it again", "let's hear that one more time", "can we hear that again", "can we have that song again", "can you play that again", "loop",
            "loop this", "loop this song", "loop the song", "loop this track", "put this on repeat", "put this song on repeat", "put it on repeat", "put the song on repeat", "put it on loop", "set it to repeat",
            "turn on repeat", "turn repeat on", "switch repeat on", "switch to repeat", "enable repeat", "activate repeat", "play this on repeat", "play this song on repeat", "play it on repeat", "play this song over and over",
            "play it over and over again", "keep repeating this song", "start the song over", "start this song over", "start over with this song", "start this song again", "start this song from the beginning",
            "start the song from the beginning", "play it from the beginning", "play this from the start", "play the song from the beginning", "restart the song", "restart this song", "restart this track", "restart the track", "from the beginning",
            "from the top", "from the top please", "back to the beginning of the song", "i love this song play it again", "that was great play it again", "i missed it play it again", "this is my favorite song play it again", "encore",
        ],
        held=["i can't get enough of this song play it again", "have this song on repeat", "give me that song again", "i could listen to this one over and over", "let this song play again", "the song again from the start",
              "another time the same song", "do this song again"],
        slots=SLOTS, call=press("repeat"), result=pressed, say=say_pressed),

    Intent(
        "music.what", weight=1.6,
        patterns=[
            "what song is this", "what song is that", "what song is playing", "what song is on", "what song is it", "what song am i listening to", "what's this song", "what's that song", "what's the song", "what is this song called",
            "what's this song called", "what is that song called", "what's this called", "what's it called this song", "what is the song called", "what's the name of (this|that|the) (song|track|tune|piece|one)",
            "what's the title of (this|that|the) (song|track|tune)",
            "what's the title", "what's the song title", "what's the song name", "what's playing", "what's playing now", "what's playing right now", "what's currently playing", "what is playing at the moment", "what's on right now",
            "what's the music", "what music is this", "what music is playing", "what track is this", "what track is playing", "what tune is this", "what's this tune", "what's that tune", "what piece is this", "what am i listening to",
            "what are we listening to", "what are you playing", "what are you playing right now", "what did you just put on", "what is this", "what's this", "what's this music", "what is it that you're playing", "which song is this",
            "which song is that", "which song is playing", "which song is on", "which track is this", "which track is playing", "which song are you playing", "which artist is this", "which band is this", "which band is playing",
            "which singer is this",
            "who sings this", "who sings this song", "who sings that", "who sings it", "who is singing", "who's singing", "who is singing this", "who's singing this song", "who's that singing", "who is this", "who's this", "who is this by",
            "who's this by", "who is it by", "who is the singer", "who's the singer", "who's the artist", "who is the artist of this song", "who is the band", "who's the band", "who plays this", "who is playing", "who's playing",
            "who's playing this song",
            "who made this song", "who performs this", "who does this song", "whose song is this", "whose voice is this", "whose music is this", "by whom is this", "name of this song", "name of the song", "name this song", "name this tune",
            "name that tune", "the name of this song please", "song name", "song title please", "title and artist", "artist please who is it", "now playing", "currently playing", "tell me (the name of|the title of|about|what's) this song",
            "tell me what this song is", "tell me what's playing", "tell me who sings this", "tell me who this is", "tell me the artist", "tell me the title", "tell me the name of the artist", "give me the name of this song",
            "give me the title of this song", "show me what's playing", "say the name of the song", "do you know this song", "do you know what song this is", "do you know who sings this", "do you know the name of this song",
            "can you tell me what song this is",
            "can you identify this song", "identify this song", "identify the song", "recognize this song", "find out what song this is", "find out who sings this", "i like this song what is it", "i like this who is it",
            "i love this song what's it called", "i love this who sings it", "this is nice what is it", "this is beautiful who is it", "this song is great who sings it", "i don't know this song what is it", "i know this song but what's it called",
            "i forgot what this song is called",
            "i wonder who sings this", "i'd like to know what song this is", "i want to know who sings this", "i want to know the name of this song", "is this a song by queen", "is something playing", "is anything playing", "is there music playing",
            "are you playing something", "the song that's playing what is it", "this song what's it called", "the singer who is it", "what's the artist called", "what's the band called", "what's the name of the band", "what's the name of the singer",
        ],
        held=["what would be the title of this one", "what do they call this song", "by which artist is this song", "the one who sings here who is it", "this tune has which name", "what is that i hear", "whose track is on",
              "i need the name of what's playing", "how is this song called", "the voice i hear whose is it", "say who is singing", "what have you got on"],
        slots=SLOTS, call=lambda v: ("get_music", {}), result=playing, say=say_playing),

    Intent(
        "music.volume.level", weight=1.8,
        patterns=[
            "(set|put|change|bring|adjust|turn|make) the volume (to|at) {pct}", "(set|put|change|bring|turn) the volume (to|at) {lvl}", "set volume to {lvl}", "set volume to {pct}", "set volume {lvl}", "set the volume {lvl}", "volume {lvl}",
            "volume {pct}", "volume {lvl}", "volume to {lvl}", "volume to {pct}", "volume at {lvl}", "volume at {pct}", "volume on {lvl}", "volume level {lvl}", "volume level {pct}", "{pct} volume", "{pct} of the volume",
            "level {ten} for the volume", "volume level {ten}", "set the volume to level {ten}", "set the volume level to {lvl}", "set the sound level to {lvl}", "turn the volume to {ten} out of ten", "volume {ten} out of ten",
            "{ten} out of ten volume", "set the volume to {ten} out of ten", "turn (it|the music|the sound) (up|down) to {lvl}", "turn (it|the music|the sound) (up|down) to {pct}", "turn the volume (up|down) to {lvl}",
            "turn the volume (up|down) to {pct}",
            "turn up the volume to {lvl}", "turn down the volume to {pct}", "(raise|increase) the volume to {lvl}", "(raise|increase) the volume to {pct}", "(lower|reduce|decrease|drop) the volume to {lvl}",
            "(lower|reduce|decrease|drop) the volume to {pct}", "set the (sound|music|speaker|loudness) to {lvl}", "set the (sound|music|speaker|loudness) to {pct}", "put the music (at|on|to) {pct}", "music volume {lvl}", "music volume to {pct}",
            "speaker volume {lvl}",
            "play at {pct}", "play at volume {lvl}", "play it at {pct} volume", "play the music at volume {lvl}", "play the music at {pct}", "sound to {pct}", "sound level {lvl}", "sound at {pct}", "loudness {pct}", "make the volume {lvl}",
            "make the volume {pct}", "make it {pct} volume", "i want the volume at {lvl}", "i want the volume at {pct}", "i'd like the volume at {lvl}", "i'd like the volume at {pct}", "let's have the volume at {lvl}",
            "let's put the volume at {pct}",
            "change volume to {lvl}", "change volume to {pct}", "the volume should be {lvl}", "the volume should be {pct}", "the volume should be at {lvl}", "volume up to {lvl}", "volume down to {lvl}", "volume up to {pct}", "volume down to {pct}",
            "adjust the volume to {pct}", "go to volume {lvl}", "use volume {lvl}", "crank (it|the music|the volume) (up|) to {lvl}", "keep the volume at {lvl}", "keep the volume at {pct}",
            "full volume => level=100", "volume full => level=100", "maximum volume => level=100", "max volume => level=100", "volume max => level=100", "volume to the max => level=100", "volume to maximum => level=100",
            "set the volume to (maximum|max|full|the maximum) => level=100", "turn the volume (all the way up|up all the way|up to the max|to the max|up to full|to full) => level=100",
            "turn (it|the music) (all the way up|up all the way|up to the max|up full) => level=100",
            "crank (it|the music|the volume) to the max => level=100", "crank it all the way up => level=100", "as loud as (you can|possible|it gets|it goes) => level=100", "play it as loud as (you can|possible) => level=100",
            "the loudest (you can|possible|volume) => level=100", "highest volume => level=100", "at full volume => level=100", "play at full volume => level=100", "full blast => level=100", "play it full blast => level=100",
            "half volume => level=50", "volume half => level=50", "volume at half => level=50", "volume to half => level=50", "set the volume to half => level=50", "put the volume at half => level=50", "turn the volume to half => level=50",
            "turn it down to half => level=50", "turn the volume (up|down) to half => level=50", "medium volume => level=50", "volume medium => level=50", "set the volume to medium => level=50", "play at half volume => level=50",
            "volume in the middle => level=50",
            "set the volume to the middle => level=50", "half the volume please => level=50", "volume zero => level=0", "volume 0 => level=0", "volume to zero => level=0", "set the volume to zero => level=0", "set the volume to 0 => level=0",
            "turn the volume down to zero => level=0", "turn the volume all the way down => level=0", "turn it all the way down => level=0", "zero percent volume => level=0", "volume to a quarter => level=25",
            "set the volume to a quarter => level=25", "quarter volume => level=25", "volume at three quarters => level=75", "three quarter volume => level=75", "set the volume to three quarters => level=75",
            "turn the volume to a quarter => level=25",
        ],
        held=["have the volume at {lvl}", "have the sound at {pct}", "get the volume to {lvl}", "get the volume to {pct}", "let the volume be {lvl}", "let the volume be {pct}", "{lvl} is what i want for the volume",
              "from one to ten make the volume {ten}", "give the music {pct} volume", "could we have {pct} volume", "i need the volume to be {lvl}", "take the volume to {lvl}", "all the volume you have => level=100",
              "give it full volume => level=100",
              "let's go to half volume => level=50", "at {pct} the volume would be right"],
        slots=SLOTS, call=loudness, result=volume_set, say=say_volume),
    Intent(
        "music.volume.up", weight=1.3,
        patterns=[
            "louder", "louder please", "a bit louder", "a little louder", "a little bit louder", "much louder", "a lot louder", "even louder", "slightly louder", "make it louder", "make it (a bit|a little|much|a lot) louder", "make the music louder",
            "make the song louder", "make the sound louder", "turn it up", "turn it up a bit", "turn it up a little", "turn it up a lot", "turn it up a notch", "turn it up more", "turn it way up",
            "turn up", "turn (the music|the song|the sound|the volume|this|this song|the speaker|the stereo|that) up", "turn (the music|the sound|the volume|this song) up (a bit|a little|a notch|some more|a little bit)",
            "turn up (the music|the song|the sound|the volume|this|this song|the speaker|the stereo)", "turn up the volume (a bit|a little|a notch)", "turn up the music (a bit|a little)", "crank it up", "crank it",
            "crank up the (music|volume|sound|tunes)", "pump it up",
            "pump up the volume", "pump up the jam", "volume up", "volume up please", "volume up a bit", "volume up a little", "volume higher", "higher volume", "more volume", "more volume please", "some more volume", "more sound", "sound up",
            "music up", "music louder", "(raise|increase|boost|up|bump up|push up) the volume", "(raise|increase|boost) the volume (a bit|a little|slightly|some more)", "(raise|increase) volume", "raise the sound", "raise the music",
            "raise the volume by {by} [percent]", "increase the volume by {by} [percent]", "turn it up by {by} [percent]", "turn the volume up by {by} [percent]", "volume up by {by} [percent]", "volume plus {by}", "turn it up {by} (notches|steps)",
            "{by} percent louder", "play (it|the music|this|the song) louder", "play louder", "play it a bit louder", "play this song louder", "louder music", "louder music please", "i want it louder", "i want the music louder", "i need it louder",
            "i'd like it a bit louder", "i'd like the music louder", "we want it louder", "can it go louder", "can we have it louder", "can you make it louder", "it could be louder", "it should be louder", "the music should be louder",
            "the music could be a bit louder", "i can't hear it", "i can't hear the music", "i can't hear anything", "i can't hear the song", "i can hardly hear it", "i can hardly hear the music", "i can barely hear it", "i can barely hear the song",
            "i can't hear you",
            "i can't hear a thing", "i don't hear anything", "i don't hear the music", "i hear nothing", "i'm hard of hearing make it louder", "my ears aren't what they were louder please", "it's too quiet", "it's so quiet", "it's a bit quiet",
            "the music is too quiet", "the music is so quiet", "the music is very low", "this is too quiet", "this is too low", "the volume is too low", "the volume is very low", "the volume's too low", "the sound is too low",
            "the sound is too quiet", "too quiet",
            "too soft i can't hear it", "much too quiet", "not loud enough", "it's not loud enough", "the music isn't loud enough", "this isn't loud enough", "speak up", "speak louder", "talk louder", "say it louder", "give me more volume",
            "give it more volume", "give us more sound", "blast it", "blast the music", "blast this song", "let it rip", "i love this song turn it up", "this is my favorite song turn it up", "this song is great turn it up", "bring the volume up",
            "bring up the volume",
            "bring the music up a bit", "put the volume up", "put the volume up a bit", "put the volume higher", "adjust the volume up", "set the volume higher", "set the volume a bit higher", "take the volume up a notch", "push the volume up",
            "up the volume a bit", "amplify the sound", "nobody can hear this turn it up", "we can't hear it back here",
        ],
        held=["have it a bit louder", "get the music louder", "let's hear it louder", "the sound could use some more volume", "we don't hear enough of the music", "is there any way to make it louder", "is that as loud as it gets turn it up",
              "what is it saying i can't hear turn it up", "the volume needs to go up", "i hear the song only a little", "let the volume go up"],
        slots=SLOTS, call=volume("up"), result=volume_set, say=say_volume),
    Intent(
        "music.volume.down", weight=1.3,
        patterns=[
            "quieter", "quieter please", "a bit quieter", "a little quieter", "a little bit quieter", "much quieter", "a lot quieter", "even quieter", "slightly quieter", "softer", "softer please", "a bit softer", "a little softer",
            "lower the volume", "less loud", "less loud please", "not so loud", "not so loud please", "not that loud", "make it (quieter|softer|less loud|lower in volume)", "make it (a bit|a little|much|a lot) (quieter|softer)",
            "make the music (quieter|softer|less loud)",
            "make the song quieter", "make the sound quieter", "make the sound softer", "turn it down", "turn it down a bit", "turn it down a little", "turn it down a lot", "turn it down a notch", "turn it down some more", "turn it way down",
            "turn down", "turn (the music|the song|the sound|the volume|this|this song|the speaker|the stereo|that|that noise) down", "turn (the music|the sound|the volume|this song) down (a bit|a little|a notch|some more|a little bit)",
            "turn down (the music|the song|the sound|the volume|this|this song|the speaker|the stereo|that noise|that music)", "turn down the volume (a bit|a little|a notch)", "turn down the music (a bit|a little)", "volume down",
            "volume down please", "volume down a bit", "volume down a little", "volume lower", "lower volume", "less volume", "less volume please", "less noise", "less noise please", "sound down", "music down", "music quieter", "music softer",
            "(lower|reduce|decrease|drop) the volume", "(lower|reduce|decrease|drop) the volume (a bit|a little|slightly|some more)", "(lower|reduce|decrease) volume", "lower the sound", "lower the music", "lower the music a bit", "reduce the noise",
            "reduce the sound", "lower the volume by {by} [percent]", "reduce the volume by {by} [percent]", "turn it down by {by} [percent]", "turn the volume down by {by} [percent]", "volume down by {by} [percent]", "volume minus {by}",
            "turn it down {by} (notches|steps)", "{by} percent quieter", "play (it|the music|this|the song) (quieter|softer|more quietly|more softly|a bit quieter)", "play quieter", "play softer", "play more quietly", "quieter music",
            "quieter music please", "i want it quieter", "i want the music quieter", "i need it quieter", "i'd like it a bit quieter", "i'd like the music softer", "we want it quieter", "can we have it quieter", "can you make it quieter",
            "it should be quieter",
            "it could be a bit quieter", "the music should be quieter", "the music could be a bit softer", "too loud", "it's too loud", "it's so loud", "it's way too loud", "it's a bit loud", "it's a little loud", "it's very loud",
            "it's much too loud", "that's too loud", "that's loud", "that's way too loud", "that's a bit loud", "this is too loud", "this is way too loud", "this is so loud", "the music is too loud", "the music is so loud", "the music is a bit loud",
            "the music's too loud",
            "the song is too loud", "the sound is too loud", "the volume is too high", "the volume is very high", "the volume's too high", "the volume is too loud", "way too loud", "much too loud", "a bit too loud", "too much noise", "too noisy",
            "it's too noisy", "so loud", "my ears hurt", "my ears are hurting", "it hurts my ears", "this hurts my ears", "my ears are bleeding", "i'm going deaf", "i can't hear myself think", "i can't hear myself talk", "i can't hear my own voice",
            "i can't think with this noise", "i can't talk with the music so loud", "i can't hear what she's saying over the music", "i'm on the phone turn the music down", "i'm on the phone turn it down", "the baby is sleeping turn it down",
            "the baby is sleeping quieter please", "the neighbors are complaining turn it down", "the neighbors will complain turn the music down", "don't wake the baby turn it down", "think of the neighbors turn it down", "keep it down",
            "keep it down please",
            "keep the noise down", "keep the music down", "keep the music low", "tone it down", "tone down the music", "bring the volume down", "bring down the volume", "bring the music down a bit", "bring it down a notch", "put the volume down",
            "put the volume down a bit", "put the volume lower", "set the volume lower", "set the volume a bit lower", "adjust the volume down", "take the volume down a notch", "take it down a notch", "speak more quietly", "speak softer",
            "talk softer", "don't shout",
            "you're too loud", "you are so loud", "don't be so loud", "don't play so loud", "stop shouting", "soften the music", "soften the sound", "it's blasting turn it down", "give me less volume",
        ],
        held=["have it a bit quieter", "get the music softer", "let's have it less loud", "must it be so loud", "could the music be any louder turn it down", "is there any way to make it quieter", "the volume needs to go down", "why is this so loud",
              "we hear too much of the music", "who made it so loud", "let the volume go down", "it's hurting our ears"],
        slots=SLOTS, call=volume("down"), result=volume_set, say=say_volume),
    Intent(
        "music.mute", weight=0.6,
        patterns=[
            "mute", "mute please", "mute it", "mute the (music|sound|song|speaker|speakers|audio|volume|player|stereo)", "mute this", "mute that", "mute music", "mute sound", "mute everything", "mute yourself", "mute all sound",
            "mute for a (moment|minute|second)", "mute the music for a (moment|minute|second)", "sound off", "sound off please", "no sound", "no sound please", "audio off", "volume off", "turn off the (sound|audio|volume)",
            "turn the (sound|audio|volume) off",
            "turn sound off", "switch off the sound", "switch the sound off", "switch the volume off", "shut off the sound", "cut the sound", "cut the audio", "kill the sound", "kill the audio", "kill the volume", "put it on mute",
            "put the music on mute", "put the sound on mute", "set it to mute", "set the volume to mute", "go on mute", "press mute", "hit mute", "mute on", "mute mode", "take the sound off", "take the sound away", "remove the sound",
            "without sound please", "i want no sound",
            "i don't want any sound", "i'm on the phone mute the music", "the phone is ringing mute the sound", "silence the speaker", "silence the speakers", "disable the sound", "keep playing without sound",
        ],
        held=["have the sound off", "get rid of the sound", "make the speaker mute", "the sound can go off", "i'd like the music on mute"],
        slots=SLOTS, call=volume("mute"), result=volume_set, say=say_volume),
    Intent(
        "music.unmute", weight=0.5,
        patterns=[
            "unmute", "unmute please", "unmute it", "unmute the (music|sound|song|speaker|speakers|audio|volume|player|stereo)", "unmute this", "unmute music", "unmute sound", "unmute yourself", "un mute", "un mute the music", "un mute the sound",
            "sound on", "sound on please", "sound back on", "sound again", "audio on", "audio back on", "volume on", "volume back on", "turn on the (sound|audio|volume)", "turn the (sound|audio|volume) on", "turn the (sound|audio|volume) back on",
            "turn the sound on again", "turn on the sound again", "turn sound on", "switch on the sound", "switch the sound on", "switch the sound back on", "bring the sound back", "bring back the sound", "bring the volume back",
            "give me the sound back", "give me sound", "put the sound back on", "put the sound on", "put the volume back on", "take it off mute", "take the music off mute", "take off the mute", "turn off mute", "turn mute off", "switch off mute",
            "switch mute off",
            "end mute", "stop muting", "mute off", "no more mute", "cancel the mute", "remove the mute", "i want the sound back", "i want to hear the sound again", "i'd like the sound back on", "restore the sound", "restore the volume",
            "enable the sound", "you can turn the sound back on", "off the phone now sound on please", "why is it muted turn the sound on", "don't mute it anymore", "with sound please",
        ],
        held=["have the sound back on", "get the sound going again", "let me have the sound again", "the sound can go back on", "no mute please"],
        slots=SLOTS, call=volume("unmute"), result=volume_set, say=say_volume),

    # Second and third turns
    Intent(
        "music.f.next", follows=ON + ("music.what", "music.f.what") + VOLUMES, weight=1.2,
        patterns=[
            "next", "next one", "next song", "next please", "and the next one", "something else", "something else please", "no something else", "something different", "no not that one", "not that one", "not this one", "no not this", "skip it",
            "skip that", "skip that one", "skip", "skip this", "another one", "another one please", "another", "another song", "a different song", "a different one", "play a different one", "play something else", "play another one",
            "play the next one",
            "i don't like it", "i don't like that", "i don't like this one", "i don't like that song", "no i don't like it", "boring", "that's boring", "it's boring", "i hate it", "i hate this one", "that's awful", "change it", "change that",
            "try another one", "try something else", "try the next one", "no another one", "and now the next one", "okay next", "next again", "and the next", "wrong one", "that's the wrong song", "no that's not it", "no the next one", "one more",
            "go on to the next", "nope next", "nah skip it", "ugh skip it",
        ],
        held=["anything else", "no anything but that", "away with it next", "then the next one", "let's try a different one", "this isn't it try the next", "i'd rather have something else"],
        slots=SLOTS, call=press("next"), result=pressed, say=say_pressed),
    Intent(
        "music.f.previous", follows=ON + ("music.what", "music.f.what"), weight=0.6,
        patterns=[
            "go back", "back", "the one before", "no the one before", "previous", "the previous one", "previous one please", "no go back", "go back one", "go back to the other one", "back to the last one", "the last one", "the last one again",
            "no the last one", "no the previous one", "i liked the one before", "i liked the other one better", "the other one was better", "the one before was better", "play the one before", "play the previous one", "wait go back", "oh go back",
            "and back again",
            "back one", "one back", "one before that", "and the one before that", "return to the other one", "put the other one back on", "i want the one before",
        ],
        held=["get the other one back", "no the one we had before", "back up one", "i'd rather have the one before"],
        slots=SLOTS, call=press("previous"), result=pressed, say=say_pressed),
    Intent(
        "music.f.repeat", follows=BARE + LATER + ("music.next", "music.previous", "music.f.next", "music.f.previous", "music.what", "music.f.what"), weight=0.6,
        patterns=[
            "again", "again please", "once more", "one more time", "play it again", "play that again", "play that one again", "repeat it", "repeat that", "repeat that one", "repeat", "and again", "and repeat it", "and play it again",
            "put it on repeat", "and put it on repeat", "put that on repeat", "loop it", "loop that", "and loop it", "the same again", "same again", "that one again", "i love it play it again", "i want to hear it again", "i want to hear that again",
            "let me hear it again",
            "from the beginning", "from the start", "start it over", "start over", "start it again", "start it from the beginning", "play it from the start", "restart it", "over again", "great song again please", "i like it play it again",
            "on repeat please", "keep playing that one", "play that over and over", "do it again",
        ],
        held=["let me have that again", "give me that one again", "i can't get enough of it again please", "have it on repeat"],
        slots=SLOTS, call=press("repeat"), result=pressed, say=say_pressed),
    Intent(
        "music.f.stop", follows=SOUND + ("music.mute", "music.unmute"), weight=1.0,
        patterns=[
            "stop", "stop it", "stop that", "stop please", "stop now", "okay stop", "no stop", "no stop it", "enough", "that's enough", "that's enough now", "okay that's enough", "enough now", "turn it off", "turn that off", "turn it off again",
            "switch it off", "shut it off", "off", "off please", "off again", "and off", "music off", "end it", "kill it", "cut it", "cancel it", "cancel that", "quit it", "stop playing", "stop playing it", "and now stop", "now stop it",
            "you can stop", "you can stop now", "you can turn it off now",
            "i'm done", "i'm done listening", "no music after all", "no stop the music", "never mind stop it", "never mind turn it off", "forget it stop the music", "actually stop it", "oh stop it", "shut up", "be quiet", "silence", "quiet",
            "no more", "no more please", "i've heard enough", "i've had enough", "make it stop", "please no", "that's awful stop it", "it's annoying turn it off", "i changed my mind stop it", "i'd rather have silence", "stop the whole thing",
        ],
        held=["let's end it here", "have it off again", "i want it gone", "away with it stop", "no i want quiet"],
        slots=SLOTS, call=press("stop"), result=pressed, say=say_pressed),
    Intent(
        "music.f.pause", follows=ON + VOLUMES + ("music.what", "music.f.what"), weight=0.7,
        patterns=[
            "pause", "pause it", "pause that", "pause please", "pause it for a moment", "pause for a second", "hold it", "hold that", "hold it for a second", "wait pause it", "and pause it", "now pause it", "put it on pause", "put it on hold",
            "okay pause", "pause it there", "stop it for a moment", "stop for a second", "stop it for a minute", "just pause it", "freeze it", "hit pause", "someone's calling pause it", "the door pause it", "hang on pause it", "hold on pause that",
            "quick pause please", "let it wait", "interrupt it",
        ],
        held=["have it wait", "make it wait a moment", "i need it on hold"],
        slots=SLOTS, call=press("pause"), result=pressed, say=say_pressed),
    Intent(
        "music.f.resume", follows=("music.pause", "music.f.pause", "music.stop", "music.f.stop"), weight=1.8,
        patterns=[
            "continue", "go on", "resume", "resume it", "continue it", "play", "play it", "play on", "keep playing", "carry on", "keep going", "unpause", "unpause it", "okay continue", "okay go on", "okay play", "okay i'm back", "i'm back continue",
            "and continue", "and play again", "play again", "start again", "start it again", "turn it back on", "turn it on again", "put it back on", "back on please", "on again", "no continue", "no keep playing", "no don't stop", "don't stop",
            "no play on", "no go on",
            "no i liked it", "no i liked it keep playing", "oh no play on", "i didn't mean stop continue", "now continue", "now go on", "you can continue", "you can go on now", "you can play again", "let it play", "let it go on", "let it continue",
            "let's go on", "bring it back", "hit play", "press play", "done now go on", "where were we go on", "pick up where you left off", "all right continue the music",
        ],
        held=["get it going again", "have it go on", "it can go on now", "no let it play", "make it continue"],
        slots=SLOTS, call=press("resume"), result=pressed, say=say_pressed),
    Intent(
        "music.f.shuffle", follows=("music.artist", "music.album", "music.playlist", "music.genre", "music.any", "music.f.genre", "music.f.artist", "music.f.playlist"), weight=0.7,
        patterns=[
            "shuffle", "shuffle it", "shuffle that", "shuffle them", "and shuffle it", "and shuffle", "on shuffle", "on shuffle please", "and on shuffle", "put it on shuffle", "play it on shuffle", "mix it up", "mix it", "mix them up",
            "in random order", "in random order please", "and in random order", "but in random order", "but shuffle it", "but on shuffle", "random order", "random please", "not in order", "not in the same order", "and mix the songs", "with shuffle",
            "with shuffle on", "make it random", "turn on shuffle", "shuffle on",
            "play them in random order", "play it randomly", "and randomly please", "jumble them up",
        ],
        held=["any order will do", "have it on shuffle", "and let the order be random"],
        slots=SLOTS, call=press("shuffle"), result=pressed, say=say_pressed),
    Intent(
        "music.f.what", follows=BARE + LATER + STEPS + ("music.volume.up", "music.volume.down", "music.f.up", "music.f.down"), weight=0.9,
        patterns=[
            "who is this", "who's this", "who is it", "who is that", "who's that", "who is it by", "who's this by", "who sings this", "who sings it", "who sings that", "who's singing", "who is singing", "and who is this", "and who sings it",
            "and who is singing", "what's this", "what is this", "what's that", "what is that", "what's it called", "what is it called", "what's this called", "what's that called", "and what's it called", "and what is this", "and what's this one",
            "what's this one", "what song is this",
            "what song is that", "what song is it", "which song is it", "which song is this", "which one is this", "which one is it", "what's the title", "what's the name of it", "what's the name of this", "what are you playing",
            "what's playing now", "what is playing", "who plays this", "whose song is it", "nice who is it", "nice what is it", "oh i like it what is it", "oh i like this who is it", "i like it who's that", "i like it what's it called",
            "cool what is this", "tell me who it is", "tell me what it is", "tell me the title", "name it",
            "title please", "the title please", "do you know who it is", "do you know what it's called", "is this the beatles",
        ],
        held=["what would this be", "say who it is", "by which artist is it", "oh whose voice is that", "how is it called"],
        slots=SLOTS, call=lambda v: ("get_music", {}), result=playing, say=say_playing),
    Intent(
        "music.f.up", follows=ON + ("music.what", "music.f.what", "music.volume.level", "music.volume.down", "music.f.level", "music.f.down", "music.unmute"), weight=1.2,
        patterns=[
            "louder", "louder please", "a bit louder", "a little louder", "much louder", "and louder", "and a bit louder", "and make it louder", "make it louder", "make it a bit louder", "make it a little louder", "but louder", "but a bit louder",
            "turn it up", "turn it up a bit", "turn it up a little", "and turn it up", "and turn it up a bit", "turn that up", "turn it up some more", "crank it up", "crank it", "and crank it up", "up a bit", "up a little", "up a notch", "volume up",
            "and volume up", "more volume", "pump it up", "blast it", "i can't hear it",
            "i can't hear it well", "i can hardly hear it", "i can barely hear it", "it's too quiet", "that's too quiet", "too quiet", "now it's too quiet", "now i can't hear it", "not loud enough", "it's not loud enough", "that's not loud enough",
            "i want it louder", "i'd like it louder", "i love it turn it up", "oh i love this turn it up", "great song turn it up", "play it louder", "can it be louder", "a bit more volume please", "raise it a bit", "no louder", "no make it louder",
            "no turn it up",
        ],
        held=["let's have it louder", "have it louder", "is that all the volume turn it up", "it could use more volume"],
        slots=SLOTS, call=volume("up"), result=volume_set, say=say_volume),
    Intent(
        "music.f.down", follows=ON + ("music.what", "music.f.what", "music.volume.level", "music.volume.up", "music.f.level", "music.f.up", "music.unmute"), weight=1.2,
        patterns=[
            "quieter", "quieter please", "a bit quieter", "a little quieter", "much quieter", "softer", "a bit softer", "and quieter", "and a bit quieter", "and make it quieter", "make it quieter", "make it a bit quieter", "make it softer",
            "but quieter", "but not so loud", "but quietly", "but softly", "not so loud", "not that loud", "and not so loud", "less loud", "turn it down", "turn it down a bit", "turn it down a little", "and turn it down", "and turn it down a bit",
            "turn that down", "down a bit", "down a little", "down a notch", "volume down",
            "and volume down", "less volume", "lower it a bit", "lower it", "too loud", "it's too loud", "that's too loud", "that's a bit loud", "that's a bit too loud", "oh that's loud", "whoa too loud", "way too loud", "now it's too loud",
            "so loud", "my ears", "my ears hurt", "it hurts my ears", "i want it quieter", "i'd like it quieter", "play it quieter", "play it softly", "play it quietly", "can it be quieter", "keep it down", "tone it down", "no quieter",
            "no make it quieter", "no turn it down", "no that's too loud",
            "oh no too loud",
        ],
        held=["let's have it quieter", "have it less loud", "must it be that loud", "oh my ears lower it"],
        slots=SLOTS, call=volume("down"), result=volume_set, say=say_volume),
    # In the same direction as before.
    Intent(
        "music.f.further", follows=("music.volume.up", "music.volume.down", "music.f.up", "music.f.down", "music.f.further"), weight=1.2,
        patterns=[
            "more", "a bit more", "a little more", "more please", "a little bit more", "some more", "still more", "and a bit more", "and more", "even more", "again", "and again", "once more", "one more time", "more than that", "not enough",
            "that's not enough", "it's not enough", "still not enough", "further", "a bit further", "a notch more", "another notch", "one more notch", "one more step", "keep going", "go on", "do it again", "do that again", "a lot more", "much more",
            "the same again", "same again",
        ],
        held=["another bit", "go further", "and one more step"],
        slots=SLOTS, call=lambda v: ("set_volume", {"change": v["prev"]["args"]["change"]}), result=volume_set, say=say_volume),
    # Back a little, against the direction of before.
    Intent(
        "music.f.undo", follows=("music.volume.up", "music.volume.down", "music.f.up", "music.f.down", "music.f.further"), weight=0.8,
        patterns=["too much", "that's too much", "that was too much", "no that's too much", "not that much", "not so much", "no not that much", "a bit back", "back a bit", "a little back", "back a little", "go back a bit", "go back a little",
                  "undo that", "undo it", "no the other way", "the other way", "the other way around", "no i meant the other way", "it was better before", "that was better before", "put it back", "put it back a bit",
                  "back to how it was", "change it back", "oh that's too much", "now it's too much", "a notch back", "one notch back", "one step back", "that's far too much"],
        held=["no that was better before", "have it back a bit", "oh the other way please"],
        slots=SLOTS, call=lambda v: ("set_volume", {"change": "down" if v["prev"]["args"]["change"] == "up" else "up"}), result=volume_set, say=say_volume),
    Intent(
        "music.f.level", follows=VOLUMES + ("music.mute", "music.unmute"), weight=1.1,
        patterns=[
            "make it {lvl}", "make it {pct}", "make that {lvl}", "make that {pct}", "no make it {lvl}", "no make it {pct}", "set it to {lvl}", "set it to {pct}", "no {lvl}", "no {pct}", "{lvl}", "{pct}", "{pct} please", "to {lvl}", "to {pct}",
            "put it at {lvl}", "put it at {pct}", "put it on {lvl}", "i meant {lvl}", "i said {lvl}", "i said {pct}", "no i said {lvl}", "rather {lvl}", "rather {pct}", "better {lvl}", "better {pct}", "actually {lvl}", "actually {pct}",
            "actually make it {lvl}", "up to {lvl}", "down to {lvl}", "up to {pct}", "down to {pct}",
            "turn it to {lvl}", "turn it up to {lvl}", "turn it down to {lvl}", "and now {lvl}", "and now {pct}", "go to {lvl}", "try {lvl}", "try {pct}", "let's try {lvl}", "let's say {lvl}", "let's say {pct}", "change it to {lvl}",
            "change it to {pct}", "what about {lvl}", "how about {pct}", "bring it to {pct}", "level {ten}", "back to {lvl}", "back to {pct}", "all the way up => level=100", "to the max => level=100", "the maximum => level=100",
            "make it full volume => level=100", "as loud as it gets => level=100",
            "to half volume => level=50", "set it to half => level=50", "all the way down => level=0",
        ],
        held=["have it at {lvl}", "let it be {pct}", "get it to {lvl}", "{lvl} would be better"],
        slots=SLOTS, call=loudness, result=volume_set, say=say_volume),
    Intent(
        "music.f.mute", follows=ON + VOLUMES + ("music.what", "music.f.what"), weight=0.5,
        patterns=["mute", "mute it", "mute that", "and mute it", "now mute it", "just mute it", "mute it for a moment", "put it on mute", "sound off", "no sound", "turn off the sound", "turn the sound off", "no mute it", "okay mute it",
                  "mute it now", "kill the sound", "cut the sound", "without sound", "take the sound away"],
        held=["have it on mute", "no i want no sound", "the sound off now"],
        slots=SLOTS, call=volume("mute"), result=volume_set, say=say_volume),
    Intent(
        "music.f.unmute", follows=("music.mute", "music.f.mute"), weight=2.0,
        patterns=["unmute", "unmute it", "unmute that", "and unmute it", "now unmute it", "sound on", "sound back on", "sound on again", "turn it back on", "turn it on again", "turn the sound back on", "on again", "back on", "okay back on",
                  "okay unmute it", "you can unmute it", "you can turn it back on", "bring it back", "bring the sound back", "take it off mute", "off mute", "no unmute it", "i'm done you can unmute it", "put it back on", "now with sound",
                  "with sound again"],
        held=["have it back on", "no i want the sound"],
        slots=SLOTS, call=volume("unmute"), result=volume_set, say=say_volume),
    Intent(
        "music.f.genre", follows=SOUND + ("music.stop", "music.f.stop"), weight=1.2,
        patterns=[
            "and now some {kgenre}", "now some {kgenre}", "now {kgenre}", "and some {kgenre}", "some {kgenre} now", "no {kgenre}", "no some {kgenre}", "rather some {kgenre}", "i'd rather hear {kgenre}", "i'd rather have some {kgenre}",
            "switch to {kgenre}", "change to {kgenre}", "change it to {kgenre}", "what about {kgenre}", "what about some {kgenre}", "how about {kgenre} instead", "{kgenre} instead", "play {kgenre} instead", "play some {kgenre} instead",
            "then some {kgenre}", "and after that some {kgenre}", "make it {kgenre}",
            "and now some {genre} music", "now some {genre} music", "now {genre} music", "then {genre} music", "no {genre} music", "switch to {genre} music", "change to {genre} music", "{genre} music instead", "rather {genre} music",
            "what about {genre} music", "what about some {genre} music", "play {genre} music instead", "i meant {genre} music", "and now {genre} songs",
            "and now something {mood}", "now something {mood}", "something {mood}", "something {mood} now", "something {mood} instead", "no something {mood}", "rather something {mood}", "i'd rather hear something {mood}",
            "i'd prefer something {mood}", "what about something {mood}", "make it something {mood}", "switch to something {mood}", "play something {mood} instead", "then something {mood}", "and then some {mood} music", "now {mood} music",
            "and now {theme} music", "and now some {theme} songs", "now {theme} songs", "no {theme} music", "{theme} music instead", "switch to {theme} music", "what about {theme} songs", "rather {theme} songs", "and now something for {activity}",
            "now music for {activity}", "rather something for {activity}", "and now something from the {decade}", "now {decade} music", "{decade} music instead", "something from the {decade} instead", "what about the {decade}",
            "switch to {decade} music", "now something to {verb} to",
        ],
        held=["let's try some {genre} music", "let's go to something {mood}", "no it's time for some {kgenre}", "it should be {genre} music", "it should be something {mood}", "then let's have {theme} songs"],
        slots=SLOTS, call=play, result=played, say=say_play),
    Intent(
        "music.f.artist", follows=SOUND + ("music.stop", "music.f.stop"), weight=1.0,
        patterns=[
            "and now {kartist}", "now {kartist}", "and now some {bare_artist}", "now some {bare_artist}", "what about {kartist}", "how about {kartist} instead", "{kartist} instead", "no {kartist}", "no play {kartist}", "rather {kartist}",
            "switch to {kartist}", "then {kartist}", "and after that {kartist}", "play {kartist} instead", "i'd rather hear {kartist}",
            "and now something by {artist}", "now something by {artist}", "something by {artist}", "something by {artist} instead", "no something by {artist}", "rather something by {artist}", "and then something by {artist}",
            "what about something by {artist}", "how about something by {artist}", "i'd rather hear something by {artist}", "and now music by {artist}", "now a song by {artist}", "then a song by {artist}", "switch to music by {artist}",
            "switch to songs by {artist}",
            "change to something by {artist}", "and a song by {artist}", "one by {artist}", "now one by {artist}", "and one by {artist}", "next one by {artist}", "songs by {artist} instead", "play something by {artist} instead",
            "i meant something by {artist}", "and after that something by {artist}", "and now the band {artist}", "now the singer {artist}",
        ],
        held=["let's try something by {artist}", "it should be a song by {artist}", "then let's have something by {artist}", "let's go to songs by {artist}"],
        slots=SLOTS, call=play, result=played, say=say_play),
    Intent(
        "music.f.title", follows=SOUND + ("music.stop", "music.f.stop"), weight=1.2,
        patterns=[
            "and now {title} by {artist}", "now {title} by {artist}", "then {title} by {artist}", "and then {title} by {artist}", "after that {title} by {artist}", "after that play {title} by {artist}", "and after that {title} by {artist}",
            "no {title} by {artist}", "no i meant {title} by {artist}", "i meant {title} by {artist}", "i said {title} by {artist}", "no i said {title} by {artist}", "{title} by {artist} instead", "play {title} by {artist} instead",
            "rather {title} by {artist}", "i'd rather hear {title} by {artist}", "what about {title} by {artist}",
            "how about {title} by {artist}", "switch to {title} by {artist}", "change it to {title} by {artist}", "and {title} by {artist}", "next {title} by {artist}", "try {title} by {artist}", "now play {title} by {artist}",
            "and now the song {title}", "now the song {title}", "then the song {title}", "no the song {title}", "i meant the song {title}", "no i said the song {title}", "the song {title} instead", "rather the song {title}",
            "what about the song {title}", "switch to the song {title}", "and after that the song {title}",
            "now play the song {title}", "try the song {title}", "and now {ltitle}", "now {ltitle}", "now play {ktitle}", "what about {ltitle}", "{ltitle} instead", "i meant {ltitle}", "and now the album {album}", "now the album {album}",
            "now the album {album} by {artist}", "no i meant the album {album}", "what about the album {album}", "rather the album {album} by {artist}", "the album {album} instead",
        ],
        held=["let's try {title} by {artist}", "it should be {title} by {artist}", "then let's have the song {title}", "let's go to the album {album}", "change over to {title} by {artist}"],
        slots=SLOTS, call=play, result=played, say=say_play),
    Intent(
        "music.f.playlist", follows=SOUND + ("music.stop", "music.f.stop"), weight=0.7,
        patterns=[
            "and now my {playlist} playlist", "now my {playlist} playlist", "now the {playlist} playlist", "no my {playlist} playlist", "no the {playlist} playlist", "no i meant my {playlist} playlist", "i meant the {playlist} playlist",
            "rather my {playlist} playlist", "my {playlist} playlist instead", "the {playlist} playlist instead", "play my {playlist} playlist instead", "switch to my {playlist} playlist", "switch to the playlist {playlist}",
            "change to the {playlist} playlist", "what about my {playlist} playlist", "how about the {playlist} playlist",
            "then my {playlist} playlist", "after that my {playlist} playlist", "and then the playlist {playlist}", "i'd rather hear my {playlist} playlist", "back to my {playlist} playlist", "go back to the {playlist} playlist",
            "try my {playlist} playlist", "now the playlist called {playlist}",
        ],
        held=["let's try my {playlist} playlist", "it should be my {playlist} playlist", "then let's have the {playlist} playlist"],
        slots=SLOTS, call=play, result=played, say=say_play),
    # Whom "them" means is in the turn before.
    Intent(
        "music.f.more", follows=("music.by", "music.artist", "music.what", "music.f.what", "music.f.artist", "music.f.theirs"), weight=2.0,
        patterns=[
            "play another one by (them|him|her)", "another one by (them|him|her)", "another song by (them|him|her)", "one more by (them|him|her)", "more by (them|him|her)", "more from (them|him|her)", "play more by (them|him|her)",
            "play more from (them|him|her)", "play something else by (them|him|her)", "something else by (them|him|her)", "play more songs by (them|him|her)", "more songs by (them|him|her)", "more of (them|him|her)", "more of their (music|songs)",
            "play more of their (music|songs)", "play more of (his|her) (music|songs)",
            "play other songs by (them|him|her)", "other songs by (them|him|her)", "what else by (them|him|her) do you have", "a different song by (them|him|her)", "play a different song by (them|him|her)",
            "another song by the same (artist|band|singer)", "play another song by the same (artist|band|singer)", "more by the same (artist|band|singer)", "something else by the same (artist|band|singer)", "more by this (artist|band|singer)",
            "more from this (artist|band|singer)", "play more by this (artist|band|singer)",
            "another one of theirs", "another one of (his|hers)", "play another one of theirs", "i like (them|him|her) play more", "i like (them|him|her) play another one by (them|him|her)", "i love (them|him|her) more please by (them|him|her)",
            "keep playing (them|him|her)", "keep playing songs by (them|him|her)", "only songs by (them|him|her)", "and more by (them|him|her)", "and another one by (them|him|her)", "play their other songs", "play (his|her) other songs",
            "their other songs", "play all their songs", "play everything by (them|him|her)", "and now all their hits",
        ],
        held=["let's have more by (them|him|her)", "what other songs of theirs are there play them", "i want to hear more of this artist", "and then another by the same singer", "give me more of their stuff"],
        slots=SLOTS, call=more_by_them, result=played, say=say_play),
    Intent(
        "music.f.theirs", follows=("music.by", "music.artist", "music.f.artist", "music.f.more"), weight=1.0,
        patterns=[
            "now {title} by (them|him|her)", "and now {title} by (them|him|her)", "play {title} by (them|him|her)", "and {title} by (them|him|her)", "then {title} by (them|him|her)", "and now their song {title}", "now (his|her|their) song {title}",
            "play (his|her|their) song {title}", "(his|her|their) song {title}", "and (his|her|their) song {title}", "{title} by the same (artist|band|singer)", "play {title} by the same (artist|band|singer)",
            "{title} is also by (them|him|her) play that", "what about (his|her|their) song {title}", "{title} by (them|him|her) too",
            "i'd rather hear (his|her|their) song {title}", "and (his|her|their) album {album}", "now (his|her|their) album {album}", "play (his|her|their) album {album}", "what about (his|her|their) album {album}",
            "rather (his|her|their) album {album}", "the album {album} by (them|him|her)", "play the album {album} by (them|him|her)", "put on (his|her|their) album {album}", "put on (his|her|their) song {title}",
        ],
        held=["let's try (his|her|their) song {title}", "let's hear {title} by (them|him|her)", "then let's have (his|her|their) album {album}"],
        slots=SLOTS, call=more_by_them, result=played, say=say_play),
    # The same song, but by someone else.
    Intent(
        "music.f.version", follows=("music.title", "music.by", "music.f.version"), weight=1.2,
        patterns=[
            "the one by {artist}", "no the one by {artist}", "i mean the one by {artist}", "i meant the one by {artist}", "by {artist}", "by {artist} please", "no by {artist}", "i mean by {artist}", "the version by {artist}",
            "no the version by {artist}", "play the version by {artist}", "rather the version by {artist}", "{artists} version", "no {artists} version", "i meant {artists} version", "i want the version by {artist}", "i want {artists} version",
            "the {artist} version", "play the {artist} version", "but by {artist}", "but the one by {artist}",
            "the same song by {artist}", "the same song but by {artist}", "the same one by {artist}", "that song but by {artist}", "now the same song by {artist}", "and now the version by {artist}", "what about the version by {artist}",
            "the one sung by {artist}", "it's by {artist}", "it's the one by {artist}", "the one that {artist} sings", "play the one by {artist}", "do you have the version by {artist}", "do you have it by {artist}",
        ],
        held=["let's try the one by {artist}", "it should be the one by {artist}", "then the same song sung by {artist}"],
        slots=SLOTS, call=lambda v: ("play_music", {"title": title_before(v), **{k: x for k, x in wanted(v).items() if k == "artist"}}), result=played, say=say_play),
]
